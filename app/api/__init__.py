"""The HTTP door: parse, call a use case, answer. No rules, no SQL, no try."""
