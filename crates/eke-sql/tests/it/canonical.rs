//! The same question has the same plan, however it is written; another one has another.

use eke_sql::{Plan, plan};

use crate::tables::tables;

fn planned(sql: &str) -> Plan {
    plan(sql, &tables()).unwrap_or_else(|refusal| panic!("{sql}: {refusal}")).plan
}

fn hex(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn trivially_different_questions_have_the_same_plan() {
    for same in [
        &[
            "SELECT COUNT(*) FROM trips WHERE fare > 10 AND city = 'Delft'",
            "select count(1) as n from TRIPS as t where 'Delft' = T.CITY and 10 < t.Fare;",
            "SELECT COUNT(*) FROM trips WHERE (city = 'Delft') AND ((fare > 10)) AND fare > 10.0",
            "WITH x AS (SELECT fare AS f, city FROM trips WHERE city = 'Delft') SELECT COUNT('a') FROM x WHERE f > 10",
            "SELECT COUNT(*) FROM (SELECT * FROM trips WHERE fare > 5 + 5) t WHERE NOT (city <> 'Delft')",
            "SELECT COUNT(rider_id) FROM trips WHERE NOT NOT (fare > 10 AND city IN ('Delft', 'Delft'))",
            "SELECT COUNT(*) FROM trips WHERE TRUE AND fare > 10 AND CASE WHEN TRUE THEN city = 'Delft' END",
            "SELECT COUNT(*) AS a, COUNT(*) AS b FROM trips WHERE city = 'Delft' AND NOT (fare <= 10) ORDER BY 1 LIMIT 1",
        ][..],
        &[
            "SELECT SUM(fare), AVG(tip), COUNT(*) FROM trips WHERE stops BETWEEN 1 AND 3",
            "SELECT COUNT(*), AVG(tip), SUM(fare) FROM trips WHERE stops <= 3 AND stops >= 1",
            "SELECT COUNT(*), AVG(tip) AS x, SUM(fare), COUNT(tip) FROM trips WHERE NOT (stops < 1 OR 3 < stops)",
        ],
        &[
            "SELECT city, zone, COUNT(*) FROM trips GROUP BY city, zone",
            "SELECT zone, COUNT(*), city FROM trips GROUP BY zone, city",
            "SELECT COUNT(*) FROM trips GROUP BY zone, city, zone ORDER BY city DESC",
        ],
        &[
            "SELECT SUM(fare + tip) FROM trips WHERE city LIKE 'D%' OR paid",
            "SELECT SUM(tip + fare) FROM trips WHERE paid OR city LIKE 'D%' OR FALSE",
        ],
        &[
            "SELECT COUNT(*) FROM trips WHERE greatest(fare, tip, NULL) > 1",
            "SELECT COUNT(*) FROM trips WHERE greatest(tip, fare, tip) > 1",
        ],
        &[
            "SELECT COUNT(*) FROM trips WHERE day >= '2024-01-01'",
            "SELECT COUNT(*) FROM trips WHERE NOT day < DATE '2024-01-01'",
            "SELECT COUNT(*) FROM trips WHERE CAST('2024-01-01' AS DATE) <= day",
        ],
        &[
            "SELECT city, COUNT(*) AS n FROM trips GROUP BY city HAVING COUNT(*) > 5 LIMIT 3",
            "SELECT city, COUNT(*) AS n FROM trips GROUP BY city FETCH FIRST 3 ROWS ONLY",
            "SELECT city, n FROM (SELECT city, COUNT(*) AS n FROM trips GROUP BY city) WHERE n > 5",
            "WITH t (c, n) AS (SELECT city, COUNT(*) FROM trips GROUP BY 1) SELECT t.c, n FROM t WHERE n > 5 ORDER BY n DESC LIMIT 1",
            "SELECT 'x' AS x, city || '!' AS y, COUNT(*) FROM trips GROUP BY city",
            "SELECT city, COUNT(*) / (SELECT COUNT(*) FROM trips) FROM trips GROUP BY city",
        ],
        &[
            "SELECT z.area, COUNT(*) FROM trips t JOIN zones z ON t.zone = z.zone WHERE t.fare > 3 GROUP BY z.area",
            "SELECT area, COUNT(*) FROM zones z, trips t WHERE (fare > 3 AND z.zone = t.zone) GROUP BY area",
        ],
    ] {
        let first = planned(same[0]);
        for other in same {
            assert_eq!(planned(other), first, "{other}");
            assert_eq!(planned(other).digest(), first.digest());
        }
    }
}

#[test]
fn different_questions_have_different_plans() {
    let questions = [
        "SELECT COUNT(*) FROM trips",
        "SELECT COUNT(fare) FROM trips",
        "SELECT COUNT(DISTINCT rider_id) FROM trips",
        "SELECT SUM(fare) FROM trips",
        "SELECT AVG(fare) FROM trips",
        "SELECT COUNT(*) FROM trips WHERE fare > 1",
        "SELECT COUNT(*) FROM trips WHERE fare >= 1",
        "SELECT COUNT(*) FROM trips WHERE FALSE",
        "SELECT COUNT(*) FROM trips WHERE NULL",
        "SELECT COUNT(*) FROM trips GROUP BY city",
        "SELECT COUNT(*) FROM trips GROUP BY zone",
        "SELECT COUNT(*) FROM people",
    ];
    let mut digests: Vec<[u8; 32]> = questions.iter().map(|sql| planned(sql).digest()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), questions.len());
}

/// If this fails, plans have changed their form or their meaning: paths in ledgers would no longer
/// be found. That needs a new version.
#[test]
fn the_digest_of_a_plan_does_not_change() {
    let plan = planned(
        "SELECT city, AVG(fare + 2 * tip), COUNT(*) FROM trips WHERE started >= '2024-01-01' AND (paid OR \
         zone LIKE 'a%') AND stops IN (1, 2) GROUP BY city, EXTRACT(MONTH FROM day)",
    );
    assert_eq!(
        hex(plan.digest()),
        "7af1e74a46a212c49d981d9e9181434c09f42a4a28e7bbf14294fa80d98b50b7"
    );
}

#[test]
fn a_plan_comes_back_from_its_json() {
    for sql in [
        "SELECT COUNT(*) FROM trips",
        "SELECT city, AVG(fare * 0.1), SUM(1e-7 * tip) FROM trips WHERE note = 'it''s' AND day > '2024-01-01' GROUP BY city",
    ] {
        let plan = planned(sql);
        let json = serde_json::to_string(&plan).unwrap();
        let back: Plan = serde_json::from_str(&json).unwrap();
        assert_eq!(back, plan);
        assert_eq!(back.digest(), plan.digest());
    }
    // As deep as can be: readers of JSON have limits too.
    let mut deepest = 0;
    for many in 1..50 {
        for form in [
            format!("{}fare{} > 1", "CASE WHEN paid THEN ".repeat(many), " END".repeat(many)),
            format!("{}paid{}", "CASE WHEN ".repeat(many), " THEN TRUE END".repeat(many)),
            format!("fare{} > 1", " + tip".repeat(many)),
            format!("{}zone{} > 'a'", "coalesce(city, ".repeat(many), ")".repeat(many)),
        ] {
            if let Ok(query) = plan(&format!("SELECT COUNT(*) FROM trips WHERE {form}"), &tables())
            {
                let json = serde_json::to_string(&query).unwrap();
                assert_eq!(serde_json::from_str::<eke_sql::Query>(&json).unwrap(), query);
                deepest = deepest.max(many);
            }
        }
    }
    assert!(deepest > 30, "{deepest}");
}
