-- Questions as people type them about a census, a hospital, flights and taxis: what the tutorials of
-- other systems ask, and what a newcomer asks of tables like these.

-- A census, as tutorials have it.
SELECT COUNT(*) FROM census;
SELECT COUNT(*) FROM census WHERE age > 50;
SELECT COUNT(*) AS edu_count FROM census WHERE education IN ('Bachelors', 'Masters', 'Doctorate');
SELECT AVG(age) FROM census;
SELECT education, COUNT(*) AS n FROM census GROUP BY education;
SELECT education, AVG(income) AS avg_income, STDDEV(income) AS sd FROM census GROUP BY education ORDER BY avg_income DESC;
SELECT CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS grp, COUNT(*) FROM census GROUP BY 1;
SELECT FLOOR(age / 10) * 10 AS decade, AVG(income) FROM census GROUP BY decade ORDER BY decade;
SELECT sex, education, SUM(hours) FROM census WHERE age BETWEEN 25 AND 64 GROUP BY sex, education;
SELECT COUNT(DISTINCT person_id) FROM census;
SELECT z.borough, COUNT(*) AS trips FROM rides r JOIN zones z ON r.zone_id = z.zone_id GROUP BY z.borough;
SELECT education, 100.0 * SUM(CASE WHEN married THEN 1 ELSE 0 END) / COUNT(*) AS pct_married FROM census GROUP BY education;

-- The same, and more.
SELECT sex, AVG(age) AS age, COUNT(*) AS n FROM census GROUP BY sex ORDER BY n DESC;
SELECT married, AVG(income) AS income, COUNT(*) AS n FROM census GROUP BY married;
SELECT TOP 5 education, COUNT(*) AS n FROM census GROUP BY education ORDER BY n DESC;
SELECT state, SUM(income) / COUNT(*) AS mean_income FROM census GROUP BY state HAVING COUNT(*) > 100;
SELECT age, sex, COUNT(*) FROM census WHERE age >= 20 AND age < 30 GROUP BY age, sex;
SELECT VARIANCE(age), COUNT(age) FROM census;
SELECT COUNT(*) AS n, SUM(CAST(married AS INT)) AS n_married FROM census;
SELECT AVG(married::int) AS share_married FROM census;
SELECT COUNT(*) FROM (SELECT * FROM census WHERE income > 100000) AS rich;
SELECT occupation, COUNT(*) AS c FROM census GROUP BY occupation ORDER BY c DESC LIMIT 10;

-- In a warehouse's dialect.
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-7, privacy_unit_column=patient_id) diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis;
SELECT WITH DIFFERENTIAL_PRIVACY ward, AVG(cost) AS average_cost FROM visits GROUP BY ward;
SELECT ward, COUNTIF(emergency) AS emergencies, COUNT(*) AS visits FROM visits GROUP BY ward;
SELECT ward, COUNTIF(emergency) / COUNT(*) AS emergency_rate FROM visits GROUP BY ward;
SELECT hospital, SUM(cost) AS total, SAFE_DIVIDE(SUM(cost), COUNT(DISTINCT patient_id)) AS per_patient FROM visits GROUP BY hospital;
SELECT EXTRACT(DAYOFWEEK FROM admitted) AS dow, COUNT(*) FROM visits GROUP BY dow;
SELECT DATE_TRUNC(admitted, MONTH) AS month, COUNT(*) FROM visits WHERE admitted >= '2024-01-01' AND admitted < '2025-01-01' GROUP BY month ORDER BY month;
SELECT APPROX_COUNT_DISTINCT(patient_id) FROM visits;

-- A hospital.
SELECT ward, AVG(DATE_DIFF(discharged, admitted, DAY)) AS stay FROM visits GROUP BY ward;
SELECT ward, AVG(discharged - admitted) AS stay_days FROM visits GROUP BY ward;
SELECT COUNT(*) FROM visits WHERE diagnosis LIKE 'J%' AND admitted BETWEEN '2024-01-01' AND '2024-03-31';
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 1) readmitted;
SELECT AVG(n) AS visits_per_patient FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t;
SELECT COUNT(DISTINCT patient_id) AS patients FROM visits WHERE patient_id IN (SELECT patient_id FROM visits WHERE emergency);
SELECT ward, 1.0 * COUNT(*) FILTER (WHERE emergency) / NULLIF(COUNT(*), 0) AS rate FROM visits GROUP BY ward;
SELECT hospital, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS pct FROM visits GROUP BY hospital ORDER BY pct DESC;
WITH per AS (SELECT patient_id, SUM(cost) AS spend FROM visits GROUP BY patient_id) SELECT COUNT(*) FILTER (WHERE spend > 1000) AS high, COUNT(*) AS everyone FROM per;
SELECT date_part('year', admitted) AS y, date_part('month', admitted) AS m, COUNT(*) FROM visits WHERE date_part('year', admitted) = 2024 GROUP BY y, m;

-- Flights.
SELECT carrier, AVG(arr_delay) AS delay FROM flights WHERE NOT cancelled GROUP BY carrier ORDER BY delay DESC LIMIT 5;
SELECT origin, COUNT(*) AS n FROM flights WHERE origin IN ('AMS', 'BRU', 'CDG') GROUP BY origin;
SELECT origin || '-' || dest AS route, COUNT(*) FROM flights WHERE origin IN ('AMS','BRU') AND dest IN ('JFK','BOS') GROUP BY origin, dest;
SELECT carrier, AVG(CASE WHEN arr_delay > 15 THEN 1.0 ELSE 0.0 END) AS late_share FROM flights GROUP BY carrier;
SELECT c.name, COUNT(*) FROM flights f LEFT JOIN carriers c USING (carrier) GROUP BY c.name;
SELECT SUM(fare) / SUM(distance) AS fare_per_km FROM flights;
SELECT CORR(dep_delay, arr_delay) FROM flights WHERE dep_delay BETWEEN -30 AND 120;
SELECT EXTRACT(YEAR FROM flight_date) AS yr, AVG(fare) FROM flights WHERE EXTRACT(YEAR FROM flight_date) BETWEEN 2020 AND 2024 GROUP BY yr ORDER BY yr;
SELECT MEDIAN(arr_delay) FROM flights;
SELECT carrier, SUM(CASE WHEN cancelled THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS cancel_rate FROM flights GROUP BY carrier HAVING COUNT(*) >= 50;
SELECT date_trunc('week', flight_date) AS week, COUNT(*) FROM flights WHERE flight_date >= DATE '2024-01-01' AND flight_date < DATE '2024-04-01' GROUP BY 1 ORDER BY 1;
SELECT COUNT(*) FROM flights WHERE origin = 'AMS' AND dest <> 'LHR';

-- Taxis.
SELECT payment, AVG(tip / NULLIF(fare, 0)) AS tip_share FROM rides GROUP BY payment;
SELECT EXTRACT(HOUR FROM pickup) AS hr, COUNT(*) AS rides, ROUND(AVG(fare), 2) AS fare FROM rides GROUP BY hr ORDER BY hr;
SELECT width_bucket(fare, 0, 100, 10) AS bucket, COUNT(*) FROM rides GROUP BY bucket;
SELECT SUM(fare + tip) AS revenue FROM rides WHERE fare BETWEEN 0 AND 50;
SELECT driver_id, COUNT(*) FROM rides GROUP BY driver_id ORDER BY 2 DESC LIMIT 10;
SELECT AVG(EXTRACT(EPOCH FROM (dropoff - pickup)) / 60) AS minutes FROM rides;
SELECT z.borough, AVG(r.fare) AS fare, SUM(r.tip) / SUM(r.fare) AS tip_rate FROM rides r JOIN zones z USING (zone_id) WHERE z.borough <> 'Unknown' GROUP BY z.borough ORDER BY tip_rate DESC;
SELECT passengers, COUNT(*) AS n, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM rides WHERE passengers BETWEEN 1 AND 4 GROUP BY passengers ORDER BY passengers;
SELECT DISTINCT payment FROM rides;
SELECT MAX(fare), MIN(fare) FROM rides;
SELECT COUNT(*) AS n FROM rides WHERE EXTRACT(DOW FROM pickup) IN (0, 6) AND tip > 0.2 * fare;
SELECT AVG(total) FROM (SELECT driver_id, DATE(pickup) AS d, SUM(fare) AS total FROM rides GROUP BY driver_id, DATE(pickup)) s;
