-- Sheets of many accounts (a fleet's), the paths that requests hold, and the one function that
-- writes: a page in one round trip, all of it or nothing.

CREATE TABLE eke_sheet (
    account text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL CHECK (version > 0),
    bytes bytea NOT NULL
);

CREATE INDEX eke_held ON eke_path (path) WHERE holder IS NOT NULL;

CREATE FUNCTION eke_conflict(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', what USING ERRCODE = 'EK001';
END
$$;

-- Bytes come as hexadecimal digits, and large ones as their place among the blobs.
CREATE FUNCTION eke_append(page jsonb, blobs bytea[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT * FROM jsonb_to_recordset(page->'accounts') AS t(
            name text, budget text, from_lines bigint, from_head text, lines bigint, head text,
            next_sequence bigint, next_round bigint,
            rho_budget text, rho_spent text, rho_delta_budget text, rho_delta_spent text,
            epsilon_budget text, epsilon_taken text, epsilon_spent text,
            epsilon_delta_budget text, epsilon_delta_spent text)
        ORDER BY name COLLATE "C"
    LOOP
        IF r.from_lines IS NULL THEN
            INSERT INTO eke_account VALUES (
                r.name, r.budget, r.lines, decode(r.head, 'hex'), r.next_sequence, r.next_round,
                decode(r.rho_budget, 'hex'), decode(r.rho_spent, 'hex'),
                decode(r.rho_delta_budget, 'hex'), decode(r.rho_delta_spent, 'hex'),
                decode(r.epsilon_budget, 'hex'), decode(r.epsilon_taken, 'hex'),
                decode(r.epsilon_spent, 'hex'), decode(r.epsilon_delta_budget, 'hex'),
                decode(r.epsilon_delta_spent, 'hex'));
        ELSE
            UPDATE eke_account SET
                lines = r.lines, head = decode(r.head, 'hex'),
                next_sequence = r.next_sequence, next_round = r.next_round,
                rho_spent = decode(r.rho_spent, 'hex'),
                rho_delta_spent = decode(r.rho_delta_spent, 'hex'),
                epsilon_taken = decode(r.epsilon_taken, 'hex'),
                epsilon_spent = decode(r.epsilon_spent, 'hex'),
                epsilon_delta_spent = decode(r.epsilon_delta_spent, 'hex')
            WHERE name = r.name AND lines = r.from_lines AND head = decode(r.from_head, 'hex');
            IF NOT FOUND THEN
                PERFORM eke_conflict(format('account `%s` stands elsewhere', r.name));
            END IF;
        END IF;
    END LOOP;

    INSERT INTO eke_journal (account, line, body, digest)
    SELECT account, line, body, decode(digest, 'hex')
    FROM jsonb_to_recordset(page->'lines') AS t(account text, line bigint, body text, digest text);

    IF page ? 'requests' THEN
        INSERT INTO eke_question (digest, text)
        SELECT DISTINCT ON (digest) decode(digest, 'hex'), text
        FROM jsonb_to_recordset(page->'questions') AS t(digest text, text text)
        ORDER BY digest
        ON CONFLICT DO NOTHING;

        INSERT INTO eke_request (key, digest, account)
        SELECT key, decode(digest, 'hex'), account
        FROM jsonb_to_recordset(page->'requests') AS t(key text, digest text, account text);
    END IF;

    IF page ? 'levels' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'levels') AS t(
                account text, path text, currency smallint, before bigint, increments bigint,
                price text, sensitivity text)
        LOOP
            IF r.before = 0 THEN
                INSERT INTO eke_level VALUES (
                    r.account, decode(r.path, 'hex'), r.currency, r.increments,
                    decode(r.price, 'hex'), r.sensitivity);
            ELSE
                UPDATE eke_level
                SET increments = r.increments, price = decode(r.price, 'hex')
                WHERE account = r.account AND path = decode(r.path, 'hex')
                    AND currency = r.currency AND increments = r.before
                    AND price <= decode(r.price, 'hex')
                    AND sensitivity IS NOT DISTINCT FROM r.sensitivity;
                IF NOT FOUND THEN
                    PERFORM eke_conflict(format('path %s is paid for up to elsewhere', r.path));
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF page ? 'rounds' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'rounds') AS t(
                account text, round bigint, worst text)
        LOOP
            IF r.worst IS NULL THEN
                DELETE FROM eke_round WHERE account = r.account AND round = r.round;
            ELSE
                INSERT INTO eke_round VALUES (r.account, r.round, decode(r.worst, 'hex'))
                ON CONFLICT (account, round) DO UPDATE SET worst = excluded.worst;
            END IF;
        END LOOP;
    END IF;

    IF page ? 'answers' THEN
        INSERT INTO eke_answer (key, body)
        SELECT key, blobs[body] FROM jsonb_to_recordset(page->'answers') AS t(key text, body int);
    END IF;

    -- Row by row: joined, the planner may choose to read all paths.
    IF page ? 'releases' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'releases') AS t(path text, key text, state int)
        LOOP
            UPDATE eke_path SET holder = NULL, state = coalesce(blobs[r.state], state)
            WHERE path = decode(r.path, 'hex') AND holder = r.key;
            IF NOT FOUND THEN
                PERFORM eke_conflict(format('request `%s` does not hold its path', r.key));
            END IF;
        END LOOP;
    END IF;

    IF page ? 'draws' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'draws') AS t(
                path text, key text, lost boolean, round int)
        LOOP
            UPDATE eke_point
            SET draw = CASE WHEN r.lost THEN 2 ELSE 1 END, round = blobs[r.round]
            WHERE path = decode(r.path, 'hex') AND key = r.key AND draw = 0;
            -- A request that is given up may have bought no increment.
            IF NOT FOUND AND NOT r.lost THEN
                PERFORM eke_conflict(format('request `%s` has no increment to draw', r.key));
            END IF;
        END LOOP;
    END IF;

    IF page ? 'holds' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'holds') AS t(
                path text, account text, key text, new boolean)
        LOOP
            IF r.new THEN
                INSERT INTO eke_path (path, account, holder)
                VALUES (decode(r.path, 'hex'), r.account, r.key);
            ELSE
                UPDATE eke_path SET holder = r.key
                WHERE path = decode(r.path, 'hex') AND account = r.account AND holder IS NULL;
                IF NOT FOUND THEN
                    PERFORM eke_conflict(format('path %s is held by another request', r.path));
                END IF;
            END IF;
        END LOOP;
    END IF;

    IF page ? 'points' THEN
        INSERT INTO eke_point (path, increment, key, plan)
        SELECT decode(path, 'hex'), increment, key, blobs[plan]
        FROM jsonb_to_recordset(page->'points') AS t(
            path text, increment bigint, key text, plan int);
    END IF;

    IF page ? 'seen' THEN
        INSERT INTO eke_seen (account, path, line, currency, price, key)
        SELECT account, decode(path, 'hex'), line, currency, decode(price, 'hex'), key
        FROM jsonb_to_recordset(page->'seen') AS t(
            account text, path text, line bigint, currency smallint, price text, key text);
    END IF;

    IF page ? 'sheets' THEN
        FOR r IN
            SELECT * FROM jsonb_to_recordset(page->'sheets') AS t(
                account text, version bigint, bytes int)
        LOOP
            IF r.version = 1 THEN
                INSERT INTO eke_sheet VALUES (r.account, r.version, blobs[r.bytes]);
            ELSE
                UPDATE eke_sheet SET version = r.version, bytes = blobs[r.bytes]
                WHERE account = r.account AND version = r.version - 1;
                IF NOT FOUND THEN
                    PERFORM eke_conflict(format('the sheet of account `%s` has moved', r.account));
                END IF;
            END IF;
        END LOOP;
    END IF;
END
$$;
