-- Money is a count of grains in 16 bytes, largest first, so that comparing bytes compares amounts.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE person (
    number INTEGER PRIMARY KEY CHECK (number >= 0),
    id TEXT NOT NULL UNIQUE,
    budget BLOB NOT NULL CHECK (length(budget) = 16),
    spent BLOB NOT NULL CHECK (length(spent) = 16),
    -- Spent and reserved.
    taken BLOB NOT NULL CHECK (length(taken) = 16),
    CHECK (taken <= budget),
    CHECK (spent <= taken)
) STRICT;

CREATE TRIGGER person_budget_is_for_good BEFORE UPDATE OF number, id, budget ON person
WHEN NEW.number <> OLD.number OR NEW.id <> OLD.id OR NEW.budget <> OLD.budget
BEGIN SELECT RAISE(ABORT, 'the budget of a person never changes'); END;

CREATE TRIGGER person_never_gets_back BEFORE UPDATE OF spent ON person
WHEN NEW.spent < OLD.spent
BEGIN SELECT RAISE(ABORT, 'what a person has spent never falls'); END;

CREATE TRIGGER person_stays BEFORE DELETE ON person
BEGIN SELECT RAISE(ABORT, 'a person is never removed'); END;

CREATE TABLE journal (
    line INTEGER PRIMARY KEY,
    body TEXT NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

CREATE TRIGGER journal_is_not_edited BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;

CREATE TRIGGER journal_is_not_cut BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;

-- What is reserved and not settled, by the line of the journal that says so: for each person a number in 4 bytes, smallest first, and an
-- amount. One at a time draws from the places of a dataset.
CREATE TABLE reservation (
    line INTEGER PRIMARY KEY,
    dataset BLOB NOT NULL UNIQUE CHECK (length(dataset) = 32),
    holder TEXT NOT NULL,
    held BLOB NOT NULL CHECK (length(held) % 20 = 0)
) STRICT;

-- What the places of a dataset were when it was first asked about.
CREATE TABLE dataset (
    name BLOB PRIMARY KEY CHECK (length(name) = 32),
    fingerprint TEXT NOT NULL
) STRICT;

CREATE TRIGGER dataset_stays BEFORE UPDATE ON dataset
BEGIN SELECT RAISE(ABORT, 'places that have changed have another name'); END;

-- The answer to a question, and the line of the journal that has its digest.
CREATE TABLE answer (
    question BLOB PRIMARY KEY CHECK (length(question) = 32),
    line INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE TRIGGER answer_stays BEFORE UPDATE ON answer
BEGIN SELECT RAISE(ABORT, 'a question is answered once'); END;

-- What has been released of a person's place.
CREATE TABLE seen (
    dataset BLOB NOT NULL CHECK (length(dataset) = 32),
    person INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (dataset, person)
) STRICT, WITHOUT ROWID;
