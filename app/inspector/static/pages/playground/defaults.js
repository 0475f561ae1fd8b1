/** What the service does when a request says nothing (compared with the service by tests/api/test_inspector.py). */

export const WEIGHTS = { "relevance": 0.55, "importance": 0.17, "recency": 0.07, "frequency": 0.06, "confidence": 0.15 };

export const BUDGET_TOKENS = { "memories": 2000, "episodes": 1000, "procedures": 500, "soul": 500 };

/** The most that a budget may have. */
export const BUDGET_LIMIT = 200000;

/** Whose memory is read for a live batch, at most. */
export const VIEWERS = 3;
