// Made from the API page by tests/api/test_inspector.py --update-golden.
declare namespace Api {
  type Action = "supersede" | "merge" | "archive";
  interface ArmsReply {
    cosine_similarity: number | null;
    bm25_score: number | null;
  }
  interface AssembleBody {
    space: string;
    query?: string;
    also_read?: Array<string>;
    persona?: string | null;
    scopes?: Array<string>;
    history?: Array<MessageBody>;
    session?: string | null;
    as_of?: string | null;
    known_at?: string | null;
    format?: Format;
    timeout_ms?: number;
    record?: boolean;
    trace?: boolean;
    overrides?: OverridesBody;
  }
  interface AssembleReply {
    id: string;
    prompt: string;
    tokens: TokensReply;
    conflicts: Array<ConflictReply>;
    degraded: Array<string>;
    dropped_counts: Record<string, number>;
    overridden: Array<string>;
    stable_prefix: StablePrefixReply;
    took_ms: number;
    entries?: Array<KeptReply> | null;
    dropped?: Array<DroppedReply> | null;
    timings_ms?: Record<string, number> | null;
    plan?: Record<string, any> | null;
  }
  interface AssemblySummary {
    id: string;
    space: string;
    created_at: string;
    query: string;
    degraded: Array<string>;
    took_ms: number;
  }
  interface AuthorBody {
    name?: string | null;
    platform?: string | null;
    id?: string | null;
  }
  interface BatchItem_EpisodeReply_ {
    index: number;
    status: 200 | 201 | 422;
    entry?: EpisodeReply | null;
    errors?: Array<FieldError> | null;
  }
  interface BatchItem_MemoryReply_ {
    index: number;
    status: 200 | 201 | 422;
    entry?: MemoryReply | null;
    errors?: Array<FieldError> | null;
  }
  interface BatchItem_ProcedureReply_ {
    index: number;
    status: 200 | 201 | 422;
    entry?: ProcedureReply | null;
    errors?: Array<FieldError> | null;
  }
  interface BatchReply_EpisodeReply_ {
    items: Array<BatchItem_EpisodeReply_>;
  }
  interface BatchReply_MemoryReply_ {
    items: Array<BatchItem_MemoryReply_>;
  }
  interface BatchReply_ProcedureReply_ {
    items: Array<BatchItem_ProcedureReply_>;
  }
  interface BudgetTokensBody {
    memories?: number | null;
    episodes?: number | null;
    procedures?: number | null;
    soul?: number | null;
    total?: number | null;
  }
  type Cardinality = "one" | "many";
  type Category = "output_preference" | "personal_preference" | "assistant_preference" | "knowledge" | "interest" | "dislike" | "relationship" | "work" | "goal" | "decision" | "project" | "fact";
  interface ChangeReply {
    action: Action;
    why: Why;
    id: string;
    text: string;
    kept: string | null;
    kept_text: string | null;
  }
  interface ChoiceBody {
    choice: string;
    actor?: AuthorBody | null;
    batch?: Array<AuthorBody> | null;
  }
  interface ClaimBody {
    subject: string;
    attribute: string;
    value: string;
    cardinality?: Cardinality;
  }
  interface ConflictReply {
    kept?: string | null;
    superseded?: string | null;
    why?: string | null;
    unresolved?: Array<string> | null;
    question?: string | null;
  }
  interface ConsolidateBody {
    dry_run?: boolean;
  }
  interface ConsolidateReply {
    space: string;
    dry_run: boolean;
    entries: number;
    merged: number;
    superseded: number;
    archived: number;
    undecided: number;
    skipped: number;
    outlines: number;
    centre_moved: boolean;
    changes: Array<ChangeReply>;
  }
  interface ConversationReply {
    id: string;
    started_at: string;
    last_at: string;
    closed_at: string | null;
    summary: SummaryReply | null;
    episode: string | null;
  }
  interface CorrectionBody {
    space: string;
    scopes?: Array<string>;
    said?: string | null;
    id?: string | null;
    content?: string | null;
    text?: string | null;
    subject?: string | null;
    attribute?: string | null;
    value?: string | null;
    scope?: string | null;
    lasting?: boolean | null;
    category?: Category | null;
    valid_from?: string | null;
    actor?: AuthorBody | null;
    batch?: Array<AuthorBody> | null;
    session?: string | null;
    source?: string | null;
    dry_run?: boolean;
  }
  interface CorrectionReply {
    id: string;
    created_at: string;
    outcome: Outcome;
    told: string;
    scope: string;
    before: Array<MemoryReply>;
    after: Array<MemoryReply>;
    options: Array<OptionReply>;
    open: boolean;
    answered_by: string | null;
    turn: string | null;
    message: string | null;
    receipt: string | null;
    dry_run?: boolean;
    effect?: EffectReply | null;
  }
  interface DerivedReply {
    id: string;
    space: string;
    tier: Tier;
    message: string | null;
  }
  type DropReason = "budget" | "min_relevance" | "min_score" | "superseded" | "duplicate" | "covered_by_history" | "contradicted_by_history" | "overridden_by_record" | "out_of_scope" | "expired" | "excluded";
  interface DroppedReply {
    id: string;
    tier: string;
    reason: DropReason;
  }
  interface EffectReply {
    before: string;
    after: string;
  }
  interface EndedReply {
    id: string;
    closed: number;
  }
  interface EntryCounts {
    memories: number;
    episodes: number;
    procedures: number;
  }
  interface EntrySourceReply {
    id: string;
    turn: string | null;
    position: number | null;
    at: string | null;
    state: SourceState;
    message: MessageReply | null;
  }
  interface EpisodeBatch {
    space: string;
    entries: Array<EpisodeFields>;
  }
  interface EpisodeBody {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    occurred_at?: string | null;
    participants?: Array<string>;
    space: string;
  }
  interface EpisodeFields {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    occurred_at?: string | null;
    participants?: Array<string>;
  }
  interface EpisodePatch {
    text?: string;
    tags?: Array<string> | null;
    scope?: string | null;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    occurred_at?: string | null;
    participants?: Array<string> | null;
  }
  interface EpisodeReply {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    occurred_at: string | null;
    participants: Array<string>;
  }
  interface ErasedMessagesReply {
    id: string;
    messages: number;
    jobs: number;
  }
  interface ErasedReply {
    id: string;
    removed: Record<string, number>;
  }
  interface FieldError {
    field: string;
    message: string;
  }
  interface ForgetAuthor {
    name?: string | null;
    platform?: string | null;
    id?: string | null;
  }
  interface ForgetBody {
    space: string;
    ids?: Array<string> | null;
    content?: string | null;
    turn?: string | null;
    session?: string | null;
    author?: ForgetAuthor | null;
    since?: string | null;
    until?: string | null;
    actor?: AuthorBody | null;
    batch?: Array<AuthorBody> | null;
    dry_run?: boolean;
  }
  interface ForgetReply {
    outcome: "erased" | "ambiguous";
    entries: number;
    receipt: ReceiptReply | null;
    matches: Array<MatchReply>;
    mentioned_in: Array<string>;
  }
  type Format = "xml" | "markdown" | "plain";
  interface FoundEpisode {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    occurred_at: string | null;
    participants: Array<string>;
    relevance: number | null;
    arms: ArmsReply;
  }
  interface FoundMemory {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    reinforced?: boolean;
    category: Category | null;
    claim: ClaimBody | null;
    claim_derived: boolean;
    valid_from: string | null;
    valid_to: string | null;
    relevance: number | null;
    arms: ArmsReply;
  }
  interface FoundProcedure {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    trigger: string | null;
    relevance: number | null;
    arms: ArmsReply;
  }
  interface HistoryReport {
    at: string;
    turns: number;
    messages: number;
    archive: string | null;
  }
  interface HistorySettingsBody {
    days: number | null;
  }
  interface HistorySettingsReply {
    days: number;
    is_default: boolean;
    last_purge: HistoryReport | null;
  }
  interface JobReply {
    id: string;
    space: string;
    task: Task;
    subject: string;
    state: JobState;
    attempts: number;
    error: string | null;
    created_at: string;
    tried_at: string | null;
    note: string | null;
  }
  type JobState = "waiting" | "running" | "succeeded" | "failed";
  interface JobWithCorrections {
    id: string;
    space: string;
    task: Task;
    subject: string;
    state: JobState;
    attempts: number;
    error: string | null;
    created_at: string;
    tried_at: string | null;
    note: string | null;
    corrections: Array<CorrectionReply>;
  }
  interface KeptReply {
    id: string;
    tier: Tier;
    section: Section;
    space: string;
    text: string;
    score: number;
    signals: SignalsReply;
    tokens: number;
  }
  interface KeyReply {
    role: "reader" | "writer" | "editor" | "administrator";
    spaces: Array<string> | null;
    expires_at: string | null;
  }
  interface LiveBody {
    stream: string;
    batch: Array<PostedMessage>;
    persona?: string | null;
    agents?: Array<string>;
    lore?: Array<string>;
    viewers?: number;
    scopes?: Array<string>;
    history?: Array<PostedMessage>;
    session?: string | null;
    timeout_ms?: number;
    as_of?: string | null;
    format?: Format;
    record?: boolean;
    trace?: boolean;
    overrides?: OverridesBody;
  }
  interface LivePlanBody {
    stream: string;
    batch: Array<PostedMessage>;
    persona?: string | null;
    agents?: Array<string>;
    lore?: Array<string>;
    viewers?: number;
    scopes?: Array<string>;
    history?: Array<PostedMessage>;
    session?: string | null;
    timeout_ms?: number;
  }
  interface LivePlanReply {
    viewers: Array<PickReply>;
    passed_over: Array<string>;
    episodes: SourceReply;
    lore: SourceReply;
    records: SourceReply;
    reads_nothing: boolean;
    degraded?: Array<string>;
  }
  interface LoggedReply {
    prompt: string;
    tokens: TokensReply;
    conflicts: Array<ConflictReply>;
    dropped_counts: Record<string, number>;
    stable_prefix: StablePrefixReply;
    erased: number;
    id: string;
    space: string;
    created_at: string;
    query: string;
    degraded: Array<string>;
    took_ms: number;
    request: Record<string, any>;
    entries: Array<KeptReply>;
    dropped: Array<DroppedReply>;
    timings_ms: Record<string, number>;
  }
  interface MatchReply {
    id: string;
    text: string;
    scope: string;
    recorded_at: string;
  }
  interface MediumBody {
    kind: string;
    url?: string | null;
    caption?: string | null;
  }
  interface MemoryBatch {
    space: string;
    entries: Array<MemoryFields>;
  }
  interface MemoryBody {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    category?: Category | null;
    claim?: ClaimBody | null;
    valid_from?: string | null;
    valid_to?: string | null;
    space: string;
  }
  interface MemoryFields {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    category?: Category | null;
    claim?: ClaimBody | null;
    valid_from?: string | null;
    valid_to?: string | null;
  }
  interface MemoryPatch {
    text?: string;
    tags?: Array<string> | null;
    scope?: string | null;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    category?: Category | null;
    claim?: ClaimBody | null;
    valid_from?: string | null;
    valid_to?: string | null;
  }
  interface MemoryReply {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    reinforced?: boolean;
    category: Category | null;
    claim: ClaimBody | null;
    claim_derived: boolean;
    valid_from: string | null;
    valid_to: string | null;
  }
  interface MessageBody {
    author?: string | null;
    text: string;
    at?: string | null;
  }
  interface MessagePatch {
    text: string;
  }
  interface MessageReply {
    id: string;
    turn: string;
    session: string;
    space: string;
    given_id: string | null;
    author: AuthorBody | null;
    role: Speaker;
    text: string;
    at: string;
    recorded_at: string;
    mentions: Array<string>;
    media: Array<MediumBody>;
    event: string | null;
    version: number;
    edited_at: string | null;
  }
  interface OptionReply {
    key: string;
    label: string;
  }
  interface OrderBody {
    space: string;
    ids: Array<string>;
  }
  type Outcome = "applied" | "needs_clarification" | "unresolved";
  interface OutcomeBody {
    outcome: "success" | "failure";
  }
  interface OverridesBody {
    budget_tokens?: BudgetTokensBody | null;
    min_relevance?: number | null;
    min_score?: number | null;
    candidate_limit?: number | null;
    tag_boosts?: Record<string, any> | null;
    weights?: WeightsBody | null;
    must_include?: Array<string> | null;
    exclude?: Array<string> | null;
  }
  interface Page_AssemblySummary_ {
    items: Array<AssemblySummary>;
    next_cursor: string | null;
  }
  interface Page_CorrectionReply_ {
    items: Array<CorrectionReply>;
    next_cursor: string | null;
  }
  interface Page_EpisodeReply_ {
    items: Array<EpisodeReply>;
    next_cursor: string | null;
  }
  interface Page_JobReply_ {
    items: Array<JobReply>;
    next_cursor: string | null;
  }
  interface Page_MemoryReply_ {
    items: Array<MemoryReply>;
    next_cursor: string | null;
  }
  interface Page_MessageReply_ {
    items: Array<MessageReply>;
    next_cursor: string | null;
  }
  interface Page_ProcedureReply_ {
    items: Array<ProcedureReply>;
    next_cursor: string | null;
  }
  interface Page_RecordReply_ {
    items: Array<RecordReply>;
    next_cursor: string | null;
  }
  interface Page_SessionReply_ {
    items: Array<SessionReply>;
    next_cursor: string | null;
  }
  interface Page_SoulReply_ {
    items: Array<SoulReply>;
    next_cursor: string | null;
  }
  interface Page_SpaceReply_ {
    items: Array<SpaceReply>;
    next_cursor: string | null;
  }
  interface Page_ViewedReply_ {
    items: Array<ViewedReply>;
    next_cursor: string | null;
  }
  interface PickReply {
    space: string;
    name: string;
    salience: number;
    signals: Array<string>;
    reads: Array<string>;
    why: string;
    asks_outright: boolean;
  }
  interface PostedMessage {
    id?: string | null;
    author?: AuthorBody | null;
    role?: Speaker;
    text?: string;
    at?: string | null;
    mentions?: Array<string>;
    media?: Array<MediumBody>;
    event?: string | null;
  }
  interface Problem {
    type: "urn:ricordo:problem:invalid-input" | "urn:ricordo:problem:malformed-json" | "urn:ricordo:problem:unauthenticated" | "urn:ricordo:problem:forbidden" | "urn:ricordo:problem:not-found" | "urn:ricordo:problem:method-not-allowed" | "urn:ricordo:problem:conflict" | "urn:ricordo:problem:idempotency-conflict" | "urn:ricordo:problem:precondition-failed" | "urn:ricordo:problem:too-large" | "urn:ricordo:problem:unavailable" | "urn:ricordo:problem:upstream-unavailable" | "urn:ricordo:problem:internal";
    title: string;
    status: number;
    detail: string;
    errors?: Array<FieldError>;
  }
  interface ProcedureBatch {
    space: string;
    entries: Array<ProcedureFields>;
  }
  interface ProcedureBody {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    trigger?: string | null;
    space: string;
  }
  interface ProcedureFields {
    text: string;
    tags?: Array<string>;
    scope?: string;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    trigger?: string | null;
  }
  interface ProcedurePatch {
    text?: string;
    tags?: Array<string> | null;
    scope?: string | null;
    importance?: number | null;
    confidence?: number | null;
    author?: AuthorBody | null;
    session?: string | null;
    context?: string | null;
    source?: string | null;
    trigger?: string | null;
  }
  interface ProcedureReply {
    id: string;
    space: string;
    tier: Tier;
    version: number;
    status: Status;
    text: string;
    tags: Array<string>;
    scope: string;
    importance: number | null;
    confidence: number | null;
    author: AuthorBody | null;
    session: string | null;
    context: string | null;
    source: string | null;
    recorded_at: string;
    first_recorded_at: string;
    last_confirmed_at: string;
    unresolved: boolean;
    superseded_by: string | null;
    merged_from: Array<string>;
    reason: string;
    corrected: boolean;
    superseded?: Array<string>;
    unresolved_with?: Array<string>;
    trigger: string | null;
  }
  interface ProfilePartReply {
    category: Category | null;
    total: number;
    memories: Array<MemoryReply>;
  }
  interface ProfileReply {
    space: string;
    categories: Array<ProfilePartReply>;
    text: string;
  }
  interface QueueReply {
    state: "ok" | "slow" | "stuck" | "poisoned" | "unavailable";
    waiting: number;
    oldest_seconds: number;
    failed: number;
    workers: number;
  }
  interface ReadyReply {
    status: "ok" | "degraded" | "unavailable";
    database: "ok" | "unavailable";
    embedder: "ok" | "unavailable";
    working_memory: "ok" | "unavailable";
    queue: QueueReply;
    why: Array<string>;
  }
  interface ReceiptReply {
    id: string;
    created_at: string;
    kind: "entries" | "space";
    by: string;
    entries: number | null;
    derived: number;
    ids: Array<string>;
    removed: Record<string, number>;
    turns: Array<string>;
    jobs: number;
    digest: string;
    dry_run?: boolean;
  }
  interface RecentReply {
    items: Array<MessageReply>;
  }
  interface RecordBody {
    space: string;
    kind: string;
    payload: Record<string, any>;
    subjects?: Array<string>;
    claim?: RecordClaimBody | null;
    status?: RecordStatus;
    expires_at?: string | null;
    turn?: SourceTurnBody | null;
  }
  interface RecordClaimBody {
    subject: string;
    attribute: string;
    value: string;
  }
  interface RecordPatch {
    payload?: Record<string, any>;
    subjects?: Array<string>;
    claim?: RecordClaimBody | null;
    status?: RecordStatus;
    expires_at?: string | null;
    turn?: SourceTurnBody | null;
  }
  interface RecordReply {
    id: string;
    version: number;
    space: string;
    kind: string;
    subjects: Array<string>;
    payload: Record<string, any>;
    text: string;
    claim: RecordClaimBody | null;
    status: RecordStatus;
    expires_at: string | null;
    created_at: string;
    recorded_at: string;
    reason: string;
  }
  type RecordStatus = "open" | "done" | "cancelled";
  interface Rejected {
    errors: Array<FieldError>;
  }
  interface ReplayReply {
    prompt: string;
    tokens: TokensReply;
    conflicts: Array<ConflictReply>;
    dropped_counts: Record<string, number>;
    stable_prefix: StablePrefixReply;
    erased: number;
    id: string;
    identical: boolean;
  }
  interface ReplyBody {
    id?: string | null;
    author?: AuthorBody | null;
    text: string;
    at?: string | null;
  }
  interface RestoreBody {
    version: number;
  }
  interface SearchBody {
    space: string;
    also_read?: Array<string>;
    query?: string;
    tiers?: Array<Tier>;
    limit?: number;
    scopes?: Array<string>;
    category?: Category | null;
    tags?: Array<string> | null;
    from?: string | null;
    to?: string | null;
    min_relevance?: number | null;
    as_of?: string | null;
    known_at?: string | null;
  }
  interface SearchReply {
    items: Array<FoundMemory | FoundEpisode | FoundProcedure>;
    degraded: Array<string>;
  }
  type Section = "identity" | "preferences" | "relevant_facts" | "recent_context" | "workflows";
  interface SessionReply {
    id: string;
    name: string | null;
    space: string;
    started_at: string;
    last_at: string;
    messages: number;
    latest: string | null;
  }
  interface SessionWithConversations {
    id: string;
    name: string | null;
    space: string;
    started_at: string;
    last_at: string;
    messages: number;
    latest: string | null;
    conversations: Array<ConversationReply>;
  }
  interface SignalsReply {
    relevance: number;
    importance: number;
    recency: number;
    frequency: number;
    confidence: number;
  }
  interface SoulBody {
    space: string;
    name: string;
    text: string;
    position?: number | null;
    active?: boolean;
  }
  interface SoulPatch {
    name?: string;
    text?: string;
    position?: number;
    active?: boolean;
  }
  interface SoulReply {
    id: string;
    space: string;
    name: string;
    text: string;
    position: number;
    active: boolean;
    version: number;
    recorded_at: string;
    reason: string;
  }
  interface SourceReply {
    read: boolean;
    why: string;
  }
  type SourceState = "said" | "changed" | "deleted" | "purged" | "out_of_reach";
  interface SourceTurnBody {
    id: string;
    space?: string | null;
    whole_batch?: boolean;
  }
  interface SourcesReply {
    items: Array<EntrySourceReply>;
  }
  interface SpaceReply {
    name: string;
    created_at: string | null;
    entries: EntryCounts;
  }
  type Speaker = "user" | "assistant" | "bot" | "system" | "tool";
  interface StablePrefixReply {
    bytes: number;
    sha256: string;
  }
  type Status = "active" | "superseded" | "retracted" | "archived";
  interface SummaryReply {
    text: string;
    people: Array<string>;
    places: Array<string>;
    topics: Array<string>;
    sentiment: "positive" | "neutral" | "negative" | "mixed";
    by_model: boolean;
  }
  type Task = "history" | "episode" | "personal" | "memories" | "summary";
  type Tier = "memories" | "episodes" | "procedures";
  interface TokenBody {
    space: string;
    role: "reader" | "writer";
    minutes?: number;
  }
  interface TokenReply {
    token: string;
    space: string;
    role: "reader" | "writer";
    expires_at: string;
  }
  interface TokensReply {
    total: number;
    soul: number;
    memories: number;
    episodes: number;
    procedures: number;
  }
  interface TurnBody {
    id?: string | null;
    space?: string | null;
    stream?: string | null;
    session?: string | null;
    scope?: string | null;
    messages: Array<PostedMessage>;
    reply?: ReplyBody | string | null;
  }
  interface TurnReply {
    id: string;
    space: string;
    session: string;
    session_name: string | null;
    conversation: string;
    given_id: string | null;
    scope: string;
    said_at: string;
    recorded_at: string;
    messages: Array<MessageReply>;
  }
  interface TurnWithEntries {
    id: string;
    space: string;
    session: string;
    session_name: string | null;
    conversation: string;
    given_id: string | null;
    scope: string;
    said_at: string;
    recorded_at: string;
    messages: Array<MessageReply>;
    entries: Array<DerivedReply>;
    corrections: Array<CorrectionReply>;
  }
  interface VerifyReply {
    valid: boolean;
    sealed: boolean;
    remaining: Record<string, number>;
  }
  interface ViewedReply {
    id: string;
    text: string;
    standing: "current" | "obsolete" | "unresolved";
    label: string;
    scope: string;
    where: string;
    why: string;
    recorded_at: string;
    actions: Record<string, string>;
  }
  interface WeightsBody {
    relevance: number;
    importance: number;
    recency: number;
    frequency: number;
    confidence: number;
  }
  type Why = "same_text" | "same_wording" | "same_claim" | "faded" | "claim" | "negation" | "antonym" | "number" | "time" | "place";
  interface app__schemas__health__LiveReply {
    status: "ok";
  }
  interface app__schemas__live__LiveReply {
    id: string;
    prompt: string;
    tokens: TokensReply;
    conflicts: Array<ConflictReply>;
    degraded: Array<string>;
    dropped_counts: Record<string, number>;
    overridden: Array<string>;
    stable_prefix: StablePrefixReply;
    took_ms: number;
    entries?: Array<KeptReply> | null;
    dropped?: Array<DroppedReply> | null;
    timings_ms?: Record<string, number> | null;
    plan?: Record<string, any> | null;
  }
}
