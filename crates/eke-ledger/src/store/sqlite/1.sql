-- Money is a count of grains in 16 bytes, largest first, so that comparing bytes compares amounts.
-- A purse that an account does not have holds nothing.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
    name TEXT PRIMARY KEY,
    budget TEXT NOT NULL,
    lines INTEGER NOT NULL CHECK (lines > 0),
    head BLOB NOT NULL CHECK (length(head) = 32),
    next_sequence INTEGER NOT NULL CHECK (next_sequence > 0),
    next_round INTEGER NOT NULL CHECK (next_round >= 0),
    rho_budget BLOB NOT NULL CHECK (length(rho_budget) = 16),
    rho_spent BLOB NOT NULL CHECK (length(rho_spent) = 16),
    rho_delta_budget BLOB NOT NULL CHECK (length(rho_delta_budget) = 16),
    rho_delta_spent BLOB NOT NULL CHECK (length(rho_delta_spent) = 16),
    epsilon_budget BLOB NOT NULL CHECK (length(epsilon_budget) = 16),
    -- Spent and reserved.
    epsilon_taken BLOB NOT NULL CHECK (length(epsilon_taken) = 16),
    epsilon_spent BLOB NOT NULL CHECK (length(epsilon_spent) = 16),
    epsilon_delta_budget BLOB NOT NULL CHECK (length(epsilon_delta_budget) = 16),
    epsilon_delta_spent BLOB NOT NULL CHECK (length(epsilon_delta_spent) = 16),
    CHECK (rho_spent <= rho_budget),
    CHECK (rho_delta_spent <= rho_delta_budget),
    CHECK (epsilon_taken <= epsilon_budget),
    CHECK (epsilon_spent <= epsilon_taken),
    CHECK (epsilon_delta_spent <= epsilon_delta_budget)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER account_budget_is_for_good BEFORE UPDATE ON account
WHEN NEW.name <> OLD.name
    OR NEW.budget <> OLD.budget
    OR NEW.rho_budget <> OLD.rho_budget
    OR NEW.rho_delta_budget <> OLD.rho_delta_budget
    OR NEW.epsilon_budget <> OLD.epsilon_budget
    OR NEW.epsilon_delta_budget <> OLD.epsilon_delta_budget
BEGIN SELECT RAISE(ABORT, 'the budget of an account never changes'); END;

CREATE TRIGGER account_never_gives_back BEFORE UPDATE ON account
WHEN NEW.lines <= OLD.lines
    OR NEW.rho_spent < OLD.rho_spent
    OR NEW.rho_delta_spent < OLD.rho_delta_spent
    OR NEW.epsilon_spent < OLD.epsilon_spent
    OR NEW.epsilon_delta_spent < OLD.epsilon_delta_spent
BEGIN SELECT RAISE(ABORT, 'what an account has spent never falls'); END;

CREATE TRIGGER account_stays BEFORE DELETE ON account
BEGIN SELECT RAISE(ABORT, 'an account is never removed'); END;

CREATE TABLE journal (
    account TEXT NOT NULL,
    line INTEGER NOT NULL,
    body TEXT NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (account, line)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER journal_is_not_edited BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;

CREATE TRIGGER journal_is_not_cut BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is only added to'); END;

CREATE TABLE question (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE request (
    key TEXT PRIMARY KEY,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A request is answered once. Answers lie apart, since they may be large.
CREATE TABLE answer (
    key TEXT PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;

-- How far a path (with a sensitivity) or a bundle (without) is paid for by an account.
-- The currency is 0 for rho and 1 for epsilon.
CREATE TABLE level (
    account TEXT NOT NULL,
    path BLOB NOT NULL CHECK (length(path) = 32),
    currency INTEGER NOT NULL CHECK (currency IN (0, 1)),
    increments INTEGER NOT NULL CHECK (increments > 0),
    price BLOB NOT NULL CHECK (length(price) = 16),
    sensitivity TEXT,
    PRIMARY KEY (account, path, currency)
) STRICT, WITHOUT ROWID;

CREATE TABLE round (
    account TEXT NOT NULL,
    round INTEGER NOT NULL,
    worst BLOB NOT NULL CHECK (length(worst) = 16),
    PRIMARY KEY (account, round)
) STRICT, WITHOUT ROWID;

-- One path belongs to one account, and one request at a time draws from it.
CREATE TABLE path (
    path BLOB PRIMARY KEY CHECK (length(path) = 32),
    account TEXT NOT NULL,
    holder TEXT,
    state BLOB
) STRICT;

-- One increment is claimed once. It is 0 when claimed, 1 when drawn, 2 when lost.
CREATE TABLE point (
    path BLOB NOT NULL CHECK (length(path) = 32),
    increment INTEGER NOT NULL,
    key TEXT NOT NULL,
    draw INTEGER NOT NULL DEFAULT 0 CHECK (draw IN (0, 1, 2)),
    plan BLOB,
    round BLOB,
    UNIQUE (path, increment)
) STRICT;

CREATE UNIQUE INDEX one_draw_at_a_time ON point (path) WHERE draw = 0;

CREATE TABLE seen (
    account TEXT NOT NULL,
    path BLOB NOT NULL CHECK (length(path) = 32),
    line INTEGER NOT NULL,
    currency INTEGER NOT NULL CHECK (currency IN (0, 1)),
    price BLOB NOT NULL CHECK (length(price) = 16),
    key TEXT NOT NULL,
    PRIMARY KEY (account, path, line)
) STRICT, WITHOUT ROWID;
