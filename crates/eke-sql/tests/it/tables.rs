//! The tables that the tests ask about.

use eke_budget::Adjacency;
use eke_sql::{Column, Protection, Table, Type, Value};

pub(crate) fn column(name: &str, kind: Type) -> Column {
    Column { name: name.to_owned(), kind: Some(kind), bounds: None, values: None }
}

fn bounded(name: &str, kind: Type, low: f64, high: f64) -> Column {
    Column { bounds: Some((low, high)), ..column(name, kind) }
}

fn listed(name: &str, kind: Type, values: &[Value]) -> Column {
    Column { values: Some(values.to_vec()), ..column(name, kind) }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// `trips`, which is riders'; `people`, which is replaced and has odd names; `zones`, which is
/// public.
pub(crate) fn tables() -> Vec<Table> {
    let trips = Table {
        name: "trips".to_owned(),
        columns: vec![
            column("rider_id", Type::Int),
            listed("city", Type::Text, &[text("Leiden"), text("Delft"), text("Delft")]),
            column("zone", Type::Text),
            bounded("fare", Type::Float, 0.0, 200.0),
            bounded("tip", Type::Float, -5.0, 50.0),
            bounded("stops", Type::Int, 0.0, 12.0),
            column("metres", Type::Float),
            column("paid", Type::Bool),
            column("day", Type::Date),
            column("started", Type::Timestamp),
            listed("seats", Type::Int, &[Value::Int(2), Value::Int(4), Value::Float(1.0)]),
            Column { kind: None, ..column("route", Type::Text) },
            column("note", Type::Text),
        ],
        protection: Protection::Private {
            unit: "rider".to_owned(),
            unit_column: "rider_id".to_owned(),
            adjacency: Adjacency::AddRemove,
            max_groups: 3,
            max_rows: 20,
            max_values: None,
            max_rows_in_all: None,
        },
    };
    let people = Table {
        name: "People".to_owned(),
        columns: vec![
            column("Id", Type::Text),
            bounded("Net Income", Type::Float, -1e6, 1e6),
            column("age", Type::Int),
            column("Age", Type::Int),
        ],
        protection: Protection::Private {
            unit: "person".to_owned(),
            unit_column: "Id".to_owned(),
            adjacency: Adjacency::Replace,
            max_groups: 1,
            max_rows: 1,
            max_values: None,
            max_rows_in_all: None,
        },
    };
    let zones = Table {
        name: "zones".to_owned(),
        columns: vec![
            column("zone", Type::Text),
            listed("area", Type::Text, &[text("west"), text("east")]),
            column("rank", Type::Int),
            bounded("weight", Type::Float, 0.0, 2.0),
        ],
        protection: Protection::Public,
    };
    vec![trips, people, zones]
}

/// The same with more tables of riders, and some of others.
pub(crate) fn tables_of_units() -> Vec<Table> {
    let private = |unit: &str, unit_column: &str, max_groups, max_rows| Protection::Private {
        unit: unit.to_owned(),
        unit_column: unit_column.to_owned(),
        adjacency: Adjacency::AddRemove,
        max_groups,
        max_rows,
        max_values: None,
        max_rows_in_all: None,
    };
    let riders = Table {
        name: "riders".to_owned(),
        columns: vec![
            column("id", Type::Int),
            bounded("age", Type::Int, 0.0, 100.0),
            listed("home", Type::Text, &[text("Leiden"), text("Delft")]),
            column("day", Type::Date),
        ],
        protection: private("rider", "id", 2, 5),
    };
    let rides = Table {
        name: "rides".to_owned(),
        columns: vec![
            column("rider_id", Type::Int),
            listed("city", Type::Text, &[text("Leiden"), text("Gouda")]),
            bounded("price", Type::Int, 0.0, 90.0),
            column("zone", Type::Text),
        ],
        protection: private("rider", "rider_id", 3, 10),
    };
    let drivers = Table {
        name: "drivers".to_owned(),
        columns: vec![column("rider_id", Type::Int), column("city", Type::Text)],
        protection: private("driver", "rider_id", 3, 10),
    };
    let events = Table {
        name: "events".to_owned(),
        columns: vec![column("rider_id", Type::Int), column("city", Type::Text)],
        protection: private("rider", "", 1, 1),
    };
    let mut all = tables();
    all.extend([riders, rides, drivers, events]);
    all
}

/// Tables whose units are several columns, and people in a month.
pub(crate) fn tables_of_parts() -> Vec<Table> {
    let private = |unit: &str, unit_column: &str, max_groups| Protection::Private {
        unit: unit.to_owned(),
        unit_column: unit_column.to_owned(),
        adjacency: Adjacency::AddRemove,
        max_groups,
        max_rows: 20,
        max_values: Some(5),
        max_rows_in_all: None,
    };
    let census = |name: &str| Table {
        name: name.to_owned(),
        columns: vec![
            column("serialno", Type::Text),
            listed("sporder", Type::Int, &[Value::Int(1), Value::Int(2), Value::Int(3)]),
            listed("state", Type::Text, &[text("NL"), text("BE")]),
            bounded("income", Type::Float, 0.0, 1e5),
        ],
        protection: private("person", "(serialno, sporder)", 4),
    };
    let trips = |name: &str, unit_column: &str, unit: &str| Table {
        name: name.to_owned(),
        columns: vec![
            column("rider", Type::Int),
            column("started", Type::Timestamp),
            column("day", Type::Date),
            column("zone", Type::Text),
            bounded("fare", Type::Float, 0.0, 50.0),
        ],
        protection: private(unit, unit_column, 40),
    };
    let mut all = tables();
    all.retain(|table| table.protection == Protection::Public);
    all.extend([
        census("census"),
        census("jobs"),
        trips("trips", "(month UTC of started, rider)", "rider_month"),
        trips("fines", "(month UTC of day, rider)", "rider_month"),
        trips("east", "(month +02:00 of started, rider)", "rider_month"),
        trips("weeks", "(week UTC of started, rider)", "rider_week"),
        trips("riders", "rider", "rider_month"),
    ]);
    all
}

/// Tables as those of tutorials and of people with flights, taxis, a census and a hospital.
pub(crate) fn tables_as_typed() -> Vec<Table> {
    let private = |unit: &str, unit_column: &str, max_groups, max_rows| Protection::Private {
        unit: unit.to_owned(),
        unit_column: unit_column.to_owned(),
        adjacency: Adjacency::AddRemove,
        max_groups,
        max_rows,
        max_values: None,
        max_rows_in_all: None,
    };
    let table = |name: &str, protection: Protection, columns: Vec<Column>| Table {
        name: name.to_owned(),
        columns,
        protection,
    };
    let census = vec![
        column("person_id", Type::Int),
        bounded("age", Type::Int, 0.0, 100.0),
        listed("sex", Type::Text, &[text("female"), text("male")]),
        listed("education", Type::Text, &[text("Bachelors"), text("Masters"), text("School")]),
        bounded("income", Type::Float, 0.0, 200_000.0),
        column("state", Type::Text),
        column("married", Type::Bool),
        bounded("hours", Type::Int, 0.0, 80.0),
        column("occupation", Type::Text),
    ];
    let visits = vec![
        column("patient_id", Type::Int),
        listed("hospital", Type::Text, &[text("north"), text("south")]),
        listed("ward", Type::Text, &[text("A"), text("B"), text("C")]),
        column("admitted", Type::Date),
        column("discharged", Type::Date),
        bounded("cost", Type::Float, 0.0, 5_000.0),
        column("diagnosis", Type::Text),
        column("emergency", Type::Bool),
    ];
    let flights = vec![
        column("passenger_id", Type::Int),
        column("flight_date", Type::Date),
        listed("carrier", Type::Text, &[text("KL"), text("LH"), text("SN")]),
        column("origin", Type::Text),
        column("dest", Type::Text),
        column("dep_delay", Type::Int),
        bounded("arr_delay", Type::Int, -60.0, 300.0),
        bounded("distance", Type::Float, 0.0, 10_000.0),
        bounded("fare", Type::Float, 0.0, 2_000.0),
        column("cancelled", Type::Bool),
    ];
    let rides = vec![
        column("driver_id", Type::Int),
        column("pickup", Type::Timestamp),
        column("dropoff", Type::Timestamp),
        column("zone_id", Type::Int),
        bounded("fare", Type::Float, 0.0, 200.0),
        bounded("tip", Type::Float, 0.0, 50.0),
        column("passengers", Type::Int),
        listed("payment", Type::Text, &[text("card"), text("cash")]),
    ];
    let zones = vec![
        column("zone_id", Type::Int),
        listed("borough", Type::Text, &[text("Bronx"), text("Queens"), text("Unknown")]),
    ];
    let carriers = vec![
        column("carrier", Type::Text),
        listed("name", Type::Text, &[text("KLM"), text("Lufthansa")]),
    ];
    vec![
        table("census", private("person", "person_id", 1, 1), census),
        table("visits", private("patient", "patient_id", 3, 10), visits),
        table("flights", private("passenger", "passenger_id", 4, 10), flights),
        table("rides", private("driver", "driver_id", 4, 20), rides),
        table("zones", Protection::Public, zones),
        table("carriers", Protection::Public, carriers),
    ]
}
