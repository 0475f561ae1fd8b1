"""What others publish for the same data, with their protocol. Never measured here; the protocols differ in detail."""

from dataclasses import dataclass

_LOCOMO = "share of a question's evidence turns in the top k, 1,982 questions with evidence"
_LONGMEMEVAL = "LongMemEval-S, one answer session in the top k, abstention included"
_LONGMEMEVAL_ALL = "LongMemEval-S, all answer sessions in the top k, abstention included"
_SELF = "self-reported"
_ALL_DATA = "rank_bm25 on the whole upstream data, measured for this project"


@dataclass(frozen=True, slots=True)
class Published:
    """One published figure.

    Attributes:
        key: The figure of ours that it stands beside.
    """

    key: str
    name: str
    value: float
    protocol: str
    source: str


PUBLISHED = (
    *(
        Published(f"locomo.turn.fraction@{k}", "DRAGON", value, _LOCOMO, "Maharana et al., ACL 2024")
        for k, value in ((5, 0.567), (10, 0.662), (25, 0.767), (50, 0.827))
    ),
    *(
        Published(f"locomo.turn.fraction@{k}", "plain BM25", value, _LOCOMO, _ALL_DATA)
        for k, value in ((5, 0.455), (10, 0.535), (25, 0.627), (50, 0.702))
    ),
    Published("locomo.session.any@5", "engram-search", 0.939, "one evidence session in the top 5", _SELF),
    Published("locomo.session.any@5", "plain BM25", 0.880, "one evidence session in the top 5", _ALL_DATA),
    Published("locomo.session.fraction@10", "MemPalace", 0.889, "share of evidence sessions in the top 10", _SELF),
    Published(
        "locomo.session.fraction@10", "MemPalace, bge-large", 0.924, "share of evidence sessions in the top 10", _SELF
    ),
    Published("longmemeval.session_with_abstention.any@5", "MemPalace raw", 0.966, _LONGMEMEVAL, _SELF),
    Published("longmemeval.session_with_abstention.all@5", "MemPalace raw", 0.870, _LONGMEMEVAL_ALL, _SELF),
    Published(
        "longmemeval.session_with_abstention.any@5",
        "MemPalace hybrid",
        0.984,
        f"{_LONGMEMEVAL}, 450 held-out questions",
        _SELF,
    ),
    Published(
        "longmemeval.session_with_abstention.any@10",
        "MemPalace hybrid",
        0.998,
        f"{_LONGMEMEVAL}, 450 held-out questions",
        _SELF,
    ),
    Published(
        "longmemeval.session_with_abstention.ndcg@10",
        "MemPalace hybrid",
        0.938,
        "LongMemEval-S, answer sessions, 450 held-out questions",
        _SELF,
    ),
    Published("longmemeval.session_with_abstention.any@5", "engram-search", 0.984, _LONGMEMEVAL, _SELF),
    Published("longmemeval.session_with_abstention.any@5", "nautilus, bge-m3 and BM25", 0.978, _LONGMEMEVAL, _SELF),
    Published("longmemeval.session_with_abstention.any@5", "mem0", 0.916, _LONGMEMEVAL, "MemPalace's run of it"),
    Published("longmemeval.session_with_abstention.all@5", "Musubi", 0.852, _LONGMEMEVAL_ALL, _SELF),
    Published("longmemeval.session_with_abstention.all@10", "Musubi", 0.948, _LONGMEMEVAL_ALL, _SELF),
    *(
        Published(f"longmemeval.session_with_abstention.{name}", "plain BM25", value, protocol, _ALL_DATA)
        for name, value, protocol in (
            ("any@5", 0.962, _LONGMEMEVAL),
            ("all@5", 0.832, _LONGMEMEVAL_ALL),
            ("any@10", 0.982, _LONGMEMEVAL),
            ("ndcg@10", 0.894, "LongMemEval-S, answer sessions, abstention included"),
        )
    ),
    Published("beam.contradiction.both@5", "plain BM25", 0.40, "BEAM-100K, a message of each side", _ALL_DATA),
    Published("beam.update.both@5", "plain BM25", 0.625, "BEAM-100K, a message of each side", _ALL_DATA),
)
