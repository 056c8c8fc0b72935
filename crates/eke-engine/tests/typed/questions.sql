-- Counts and totals.
SELECT COUNT(*) FROM trips;
SELECT count(*) AS trips FROM trips WHERE fare > 20;
SELECT COUNT(DISTINCT rider_id) FROM trips;
SELECT COUNT(*) n, SUM(fare) revenue, AVG(fare) FROM trips;
SELECT SUM(fare + tip) FROM trips WHERE city = 'Delft';
SELECT COUNT(*) FROM trips WHERE city IN ('Delft', 'Leiden') AND NOT paid;
SELECT COUNT(*) FROM trips WHERE started >= '2025-03-01' AND started < '2025-04-01';
SELECT COUNT(tip) FROM trips WHERE tip BETWEEN 1 AND 5;
SELECT COUNTIF(fare > 30) FROM trips;
SELECT SUM(CASE WHEN paid THEN fare ELSE 0 END) FROM trips;
SELECT COUNT(*) FROM trips t WHERE t.metres / 1000 > 5;
SELECT AVG(fare) FILTER (WHERE paid) FROM trips;
SELECT COUNT(*) FROM trips WHERE city LIKE 'D%';
SELECT COUNT(*) FROM trips WHERE city ILIKE 'delft';
SELECT COUNT(*) FROM trips WHERE EXTRACT(HOUR FROM started) BETWEEN 7 AND 9;
SELECT COUNT(*) FROM trips WHERE tip IS NULL;
-- Groups.
SELECT city, COUNT(*) FROM trips GROUP BY city;
SELECT city, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 2 DESC;
SELECT city, paid, AVG(fare) FROM trips GROUP BY city, paid;
SELECT city, COUNT(*) FROM trips GROUP BY city HAVING COUNT(*) > 50;
SELECT city, SUM(fare) AS revenue FROM trips GROUP BY city ORDER BY revenue DESC LIMIT 2;
SELECT UPPER(city) AS c, COUNT(*) FROM trips GROUP BY c;
SELECT CASE WHEN fare < 10 THEN 'cheap' WHEN fare < 30 THEN 'usual' ELSE 'dear' END AS kind, COUNT(*) FROM trips GROUP BY kind;
SELECT city, COUNT(DISTINCT rider_id) AS riders FROM trips GROUP BY city;
SELECT city, COUNT(*), AVG(tip) FROM trips WHERE fare > 5 GROUP BY ALL;
SELECT zone, COUNT(*) FROM trips GROUP BY zone;
SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY n DESC LIMIT 5;
-- Histograms.
SELECT FLOOR(fare / 10) * 10 AS bucket, COUNT(*) FROM trips GROUP BY bucket ORDER BY bucket;
SELECT WIDTH_BUCKET(fare, 0, 60, 6) AS bucket, COUNT(*) FROM trips GROUP BY 1;
SELECT ROUND(fare) AS f, COUNT(*) FROM trips GROUP BY f;
SELECT (metres / 1000)::int AS km, COUNT(*) FROM trips GROUP BY km;
SELECT LEAST(metres / 5000, 3) AS band, AVG(fare) FROM trips GROUP BY band;
-- Time series.
SELECT DATE_TRUNC('month', started) AS month, COUNT(*) FROM trips GROUP BY month ORDER BY month;
SELECT EXTRACT(HOUR FROM started) AS hour, COUNT(*) FROM trips GROUP BY hour;
SELECT EXTRACT(DOW FROM started) AS day, AVG(fare) FROM trips GROUP BY day;
SELECT started::date AS day, COUNT(*) FROM trips GROUP BY day;
SELECT TO_CHAR(started, 'YYYY-MM') AS month, SUM(fare) FROM trips GROUP BY month;
SELECT DATE_BIN('7 days', started, TIMESTAMP '2025-01-01') AS week, COUNT(*) FROM trips GROUP BY week;
SELECT YEAR(started) AS y, MONTH(started) AS m, COUNT(*) FROM trips GROUP BY y, m;
-- Ratios and shares.
SELECT SUM(fare) / COUNT(*) FROM trips;
SELECT SUM(tip) / SUM(fare) AS tip_rate FROM trips;
SELECT 100.0 * COUNT(*) FILTER (WHERE paid) / COUNT(*) AS percent_paid FROM trips;
SELECT city, ROUND(100.0 * SUM(CASE WHEN fare > 20 THEN 1 ELSE 0 END) / COUNT(*), 1) AS share FROM trips GROUP BY city;
SELECT ROUND(AVG(fare), 2) FROM trips;
SELECT AVG(fare)::int FROM trips;
SELECT COUNT(*) * 10 AS estimated FROM trips;
SELECT AVG(fare) - AVG(tip) AS net FROM trips;
SELECT SUM(fare) / NULLIF(SUM(metres), 0) * 1000 AS per_km FROM trips;
SELECT AVG(CASE WHEN paid THEN 1.0 ELSE 0.0 END) AS share_paid FROM trips;
SELECT AVG(paid::int) FROM trips;
SELECT city, COUNT(*) FILTER (WHERE fare > 20) AS dear, COUNT(*) FILTER (WHERE fare <= 20) AS cheap FROM trips GROUP BY city;
SELECT city, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM trips GROUP BY city;
-- Spread.
SELECT STDDEV(fare) FROM trips;
SELECT city, AVG(fare), STDDEV(fare) FROM trips GROUP BY city;
SELECT VARIANCE(tip) FROM trips;
SELECT CORR(fare, metres) FROM trips;
SELECT MEDIAN(fare) FROM trips;
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY fare) FROM trips;
SELECT MIN(fare), MAX(fare) FROM trips;
-- Top lists.
SELECT zone FROM trips GROUP BY zone ORDER BY COUNT(*) DESC LIMIT 3;
SELECT zone, SUM(fare) FROM trips GROUP BY zone ORDER BY SUM(fare) DESC LIMIT 3;
SELECT DISTINCT city FROM trips;
-- Lookups.
SELECT area, COUNT(*) FROM trips JOIN zones USING (zone) GROUP BY area;
SELECT z.area, AVG(t.fare) FROM trips t LEFT JOIN zones z ON t.zone = z.zone GROUP BY z.area;
SELECT COUNT(*) FROM trips t INNER JOIN zones z ON z.zone = t.zone WHERE z.area = 'north';
SELECT z.area, COUNT(DISTINCT t.rider_id) FROM trips t JOIN zones z ON t.zone = z.zone AND t.fare > 5 GROUP BY 1 ORDER BY 1;
SELECT COUNT(*) FROM trips WHERE zone IN (SELECT zone FROM zones WHERE area = 'north');
-- One row a person.
SELECT AVG(n) FROM (SELECT rider_id, COUNT(*) AS n FROM trips GROUP BY rider_id) AS r;
SELECT COUNT(*) FROM (SELECT rider_id, SUM(fare) AS total FROM trips GROUP BY rider_id HAVING SUM(fare) > 50) AS r;
WITH r AS (SELECT rider_id, SUM(fare) AS total FROM trips GROUP BY rider_id) SELECT AVG(total), COUNT(*) FROM r;
SELECT n, COUNT(*) AS riders FROM (SELECT rider_id, COUNT(*) AS n FROM trips GROUP BY rider_id) AS r GROUP BY n;
SELECT WIDTH_BUCKET(total, 0, 200, 4) AS b, COUNT(*) FROM (SELECT rider_id, SUM(fare) AS total FROM trips GROUP BY 1) r GROUP BY b;
SELECT first_city, COUNT(*) FROM (SELECT rider_id, MIN(city) AS first_city FROM trips GROUP BY rider_id) r GROUP BY first_city;
SELECT AVG(latest - earliest) FROM (SELECT rider_id, MIN(metres) AS earliest, MAX(metres) AS latest FROM trips GROUP BY rider_id) r;
SELECT COUNT(*) FROM (SELECT rider_id, COUNT(DISTINCT city) AS cities FROM trips GROUP BY rider_id) r WHERE cities >= 2;
SELECT COUNT(DISTINCT city) FROM trips;
SELECT city, AVG(n) FROM (SELECT rider_id, city, COUNT(*) AS n FROM trips GROUP BY rider_id, city) r GROUP BY city;
SELECT COUNT(*) FROM (SELECT DISTINCT rider_id, city FROM trips) r;
-- A library's members and what they borrow, as in Tumult's tutorials.
SELECT COUNT(*) AS total_count FROM members;
SELECT COUNT(*) FROM members WHERE age < 18;
SELECT age, COUNT(*) AS teen_count FROM members WHERE age >= 10 AND age < 20 GROUP BY age;
SELECT education_level, COUNT(*) AS edu_count FROM members GROUP BY education_level;
SELECT education_level, AVG(age) FROM members GROUP BY education_level;
SELECT SUM(books_borrowed) FROM members;
SELECT gender, education_level, COUNT(*) FROM members GROUP BY gender, education_level;
SELECT FLOOR(age / 10) * 10 AS age_bin, AVG(books_borrowed) FROM members GROUP BY age_bin;
SELECT gender, STDDEV(books_borrowed) FROM members GROUP BY gender;
SELECT zip_code, COUNT(*) FROM members GROUP BY zip_code;
SELECT EXTRACT(YEAR FROM joined) AS year, COUNT(*) FROM members GROUP BY year;
SELECT gender, COUNT(*) FILTER (WHERE age < 18) / COUNT(*) AS young FROM members GROUP BY gender;
SELECT genre, COUNT(*) FROM checkouts GROUP BY genre;
SELECT genre, COUNT(DISTINCT member_id) AS readers FROM checkouts GROUP BY genre;
SELECT AVG(n) FROM (SELECT member_id, COUNT(*) AS n FROM checkouts GROUP BY member_id) c;
SELECT m.gender, COUNT(*) FROM checkouts c JOIN members m ON c.member_id = m.id GROUP BY m.gender;
SELECT COUNT(*) FROM members WHERE id IN (SELECT member_id FROM checkouts WHERE genre = 'poetry');
SELECT COUNT(*) FROM members m WHERE NOT EXISTS (SELECT 1 FROM checkouts c WHERE c.member_id = m.id);
-- A census sample, as in OpenDP's notebooks.
SELECT COUNT(*) FROM people;
SELECT AVG(age) FROM people;
SELECT SUM(income) FROM people WHERE educ >= 3;
SELECT sex, AVG(income) FROM people GROUP BY sex;
SELECT educ, sex, COUNT(*) FROM people GROUP BY educ, sex;
SELECT VAR_SAMP(age) FROM people;
SELECT married, COUNT(*), AVG(income) FROM people GROUP BY married;
SELECT race, COUNT(*) FROM people GROUP BY race;
SELECT WIDTH_BUCKET(income, 0, 100000, 10), COUNT(*) FROM people GROUP BY 1;
SELECT AVG(income) FROM people WHERE age BETWEEN 30 AND 39 AND married;
SELECT educ, 100 * AVG(CASE WHEN income > 50000 THEN 1 ELSE 0 END) FROM people GROUP BY educ;
SELECT COVAR_POP(age, income) FROM people;
SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY income) FROM people;
-- Orders, as in BigQuery's documentation.
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 0.01, max_groups_contributed = 2, privacy_unit_column = user_id) item, COUNT(*) AS times FROM orders GROUP BY item;
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 0.01, privacy_unit_column = user_id) item, AVG(quantity) AS average_quantity FROM orders GROUP BY item;
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 0.01, privacy_unit_column = user_id) item, SUM(quantity) AS total FROM orders GROUP BY item;
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 0.01, privacy_unit_column = user_id) item, VAR_POP(quantity) FROM orders GROUP BY item;
SELECT item, COUNT(DISTINCT user_id) AS buyers FROM orders GROUP BY item;
SELECT item, SUM(LEAST(GREATEST(quantity, 0), 10)) FROM orders GROUP BY item;
-- Different values, keys alone, and shares of a total.
SELECT city, COUNT(DISTINCT zone) AS zones FROM trips GROUP BY city;
SELECT COUNT(DISTINCT zone) FILTER (WHERE paid) AS zones, COUNT(DISTINCT rider_id) FILTER (WHERE paid) AS payers FROM trips;
SELECT COUNT(DISTINCT started::date) AS days, COUNT(*) AS trips FROM trips WHERE city = 'Delft';
SELECT city, COUNT(*) / COUNT(DISTINCT zone) AS per_zone FROM trips GROUP BY city;
SELECT city, COUNT(DISTINCT zone) AS zones FROM trips GROUP BY city ORDER BY zones DESC LIMIT 2;
SELECT zone FROM trips GROUP BY zone ORDER BY zone;
SELECT DISTINCT city, paid FROM trips ORDER BY city;
SELECT COUNT(DISTINCT educ) FROM people WHERE married;
SELECT city, ROUND(100.0 * SUM(fare) / SUM(SUM(fare)) OVER (), 1) AS share FROM trips GROUP BY city ORDER BY share DESC;
