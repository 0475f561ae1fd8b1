-- A word of an entry's context counts less than one of its text: frequencies are fractions.
ALTER TABLE entry_postings ALTER COLUMN tf TYPE real;
