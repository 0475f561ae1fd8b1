"""A model of bge-m3's form with random weights: XLM-RoBERTa of one layer, and the two heads."""

from importlib.resources import files
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
HIDDEN = 1_024


def make_tiny_model(folder: Path) -> None:
    """Write it with its tokenizer; the same bytes every time."""
    torch.manual_seed(7)
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(folder)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=16,
        intermediate_size=64,
        max_position_embeddings=8_194,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.1,
    )
    network = XLMRobertaModel(config, add_pooling_layer=True)
    # Even attention: the first token sees the mean of all, so that texts which share words are near.
    attention = network.encoder.layer[0].attention.self
    for linear in (attention.query, attention.key):
        torch.nn.init.zeros_(linear.weight)
    network.embeddings.position_embeddings.weight.data.zero_()
    network.save_pretrained(folder)
    sparse = torch.nn.Linear(HIDDEN, 1)
    torch.nn.init.constant_(sparse.bias, 2.0)  # most tokens have a weight above 0, not all
    torch.save(sparse.state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")


def _tokenizer() -> PreTrainedTokenizerFast:
    data = files("app.embedding") / "data"
    corpus = [
        line for name in ("statements", "questions") for line in (data / f"{name}.txt").read_text("utf-8").split()
    ]
    trained = Tokenizer(models.Unigram())
    trained.normalizer = normalizers.NFKC()
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(
        corpus, trainers.UnigramTrainer(vocab_size=600, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False)
    )
    trained.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=8_192,
    )
