-- Money is a count of grains in 16 bytes, largest first, so that comparing bytes compares amounts.
-- A purse that an account does not have holds nothing.

CREATE TABLE eke_meta (
    name text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE eke_account (
    name text COLLATE "C" PRIMARY KEY,
    budget text NOT NULL,
    lines bigint NOT NULL CHECK (lines > 0),
    head bytea NOT NULL CHECK (length(head) = 32),
    next_sequence bigint NOT NULL CHECK (next_sequence > 0),
    next_round bigint NOT NULL CHECK (next_round >= 0),
    rho_budget bytea NOT NULL CHECK (length(rho_budget) = 16),
    rho_spent bytea NOT NULL CHECK (length(rho_spent) = 16),
    rho_delta_budget bytea NOT NULL CHECK (length(rho_delta_budget) = 16),
    rho_delta_spent bytea NOT NULL CHECK (length(rho_delta_spent) = 16),
    epsilon_budget bytea NOT NULL CHECK (length(epsilon_budget) = 16),
    -- Spent and reserved.
    epsilon_taken bytea NOT NULL CHECK (length(epsilon_taken) = 16),
    epsilon_spent bytea NOT NULL CHECK (length(epsilon_spent) = 16),
    epsilon_delta_budget bytea NOT NULL CHECK (length(epsilon_delta_budget) = 16),
    epsilon_delta_spent bytea NOT NULL CHECK (length(epsilon_delta_spent) = 16),
    CHECK (rho_spent <= rho_budget),
    CHECK (rho_delta_spent <= rho_delta_budget),
    CHECK (epsilon_taken <= epsilon_budget),
    CHECK (epsilon_spent <= epsilon_taken),
    CHECK (epsilon_delta_spent <= epsilon_delta_budget)
);

CREATE FUNCTION eke_no() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = '23514';
END
$$;

CREATE TRIGGER account_budget_is_for_good
BEFORE UPDATE OF name, budget, rho_budget, rho_delta_budget, epsilon_budget, epsilon_delta_budget
ON eke_account FOR EACH ROW EXECUTE FUNCTION eke_no('the budget of an account never changes');

CREATE TRIGGER account_never_gives_back BEFORE UPDATE ON eke_account FOR EACH ROW
WHEN (NEW.lines <= OLD.lines
    OR NEW.rho_spent < OLD.rho_spent
    OR NEW.rho_delta_spent < OLD.rho_delta_spent
    OR NEW.epsilon_spent < OLD.epsilon_spent
    OR NEW.epsilon_delta_spent < OLD.epsilon_delta_spent)
EXECUTE FUNCTION eke_no('what an account has spent never falls');

CREATE TRIGGER account_stays BEFORE DELETE ON eke_account FOR EACH ROW
EXECUTE FUNCTION eke_no('an account is never removed');

CREATE TABLE eke_journal (
    account text COLLATE "C" NOT NULL,
    line bigint NOT NULL,
    body text NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (account, line)
);

CREATE TRIGGER journal_is_only_added_to BEFORE UPDATE OR DELETE ON eke_journal FOR EACH ROW
EXECUTE FUNCTION eke_no('the journal is only added to');

CREATE TABLE eke_question (
    digest bytea PRIMARY KEY CHECK (length(digest) = 32),
    text text NOT NULL
);

CREATE TABLE eke_request (
    key text COLLATE "C" PRIMARY KEY,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    account text COLLATE "C" NOT NULL
);

-- A request is answered once. Answers lie apart, since they may be large.
CREATE TABLE eke_answer (
    key text COLLATE "C" PRIMARY KEY,
    body bytea NOT NULL
);

-- How far a path (with a sensitivity) or a bundle (without) is paid for by an account.
-- The currency is 0 for rho and 1 for epsilon.
CREATE TABLE eke_level (
    account text COLLATE "C" NOT NULL,
    path bytea NOT NULL CHECK (length(path) = 32),
    currency smallint NOT NULL CHECK (currency IN (0, 1)),
    increments bigint NOT NULL CHECK (increments > 0),
    price bytea NOT NULL CHECK (length(price) = 16),
    sensitivity text,
    PRIMARY KEY (account, path, currency)
);

CREATE TABLE eke_round (
    account text COLLATE "C" NOT NULL,
    round bigint NOT NULL,
    worst bytea NOT NULL CHECK (length(worst) = 16),
    PRIMARY KEY (account, round)
);

-- One path belongs to one account, and one request at a time draws from it.
CREATE TABLE eke_path (
    path bytea PRIMARY KEY CHECK (length(path) = 32),
    account text COLLATE "C" NOT NULL,
    holder text COLLATE "C",
    state bytea
);

-- One increment is claimed once. It is 0 when claimed, 1 when drawn, 2 when lost.
CREATE TABLE eke_point (
    path bytea NOT NULL CHECK (length(path) = 32),
    increment bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    draw smallint NOT NULL DEFAULT 0 CHECK (draw IN (0, 1, 2)),
    plan bytea,
    round bytea,
    UNIQUE (path, increment)
);

CREATE UNIQUE INDEX eke_one_draw_at_a_time ON eke_point (path) WHERE draw = 0;

CREATE TABLE eke_seen (
    account text COLLATE "C" NOT NULL,
    path bytea NOT NULL CHECK (length(path) = 32),
    line bigint NOT NULL,
    currency smallint NOT NULL CHECK (currency IN (0, 1)),
    price bytea NOT NULL CHECK (length(price) = 16),
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, path, line)
);
