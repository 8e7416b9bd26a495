-- SPDX-License-Identifier: GPL-2.0-or-later
-- What jobs are found by.

-- what found them before; and an index that no question uses
DROP TABLE job_benchmark;
DROP INDEX job_by_tree;
DROP INDEX job_by_turn;

CREATE INDEX job_by_end ON job (finished_ns, id) WHERE finished_ns > 0;

-- One row a job. Its tags are a kind and the hexadecimal of a value, so that no value is taken apart into words and any
-- filters together are one question to one index. db/store-index.c keeps it true.
CREATE VIRTUAL TABLE job_index USING fts5 (
	subject, author, commits, tags, summary UNINDEXED, verdicts UNINDEXED, prefix = '2 4'
);
INSERT INTO job_index (rowid, subject, author, commits, tags, summary, verdicts) SELECT
	id,
	coalesce(json_extract(spec, '$.subject'), ''),
	coalesce(json_extract(spec, '$.author'), ''),
	coalesce(json_extract(spec, '$.base'), '') || ' ' || coalesce(json_extract(spec, '$.head'), '') || ' ' || coalesce(
		(SELECT group_concat(coalesce(json_extract(json, '$.base_commit'), json_extract(json, '$.commit')), ' ') FROM document
			WHERE document.job = job.id AND kind IN ('source', 'arm-base', 'arm-patched')), ''),
	'tree' || hex(tree) || ' state' || hex(state) || iif(finished_ns, ' ended', ' live')
		|| ' series' || hex(coalesce(nullif(json_extract(spec, '$.change_id'), ''), lower(json_extract(spec, '$.subject')), ''))
		|| coalesce((SELECT group_concat(' benchmark' || hex(value), '') FROM json_each(spec, '$.benchmarks')), '')
		|| coalesce((SELECT group_concat(DISTINCT ' verdict' || hex(json_extract(value, '$.verdict')))
			FROM json_each(result, '$.comparisons') WHERE json_extract(value, '$.primary')), ''),
	coalesce(json_extract(result, '$.summary'), ''),
	coalesce((SELECT group_concat(DISTINCT json_extract(value, '$.verdict'))
		FROM json_each(result, '$.comparisons') WHERE json_extract(value, '$.primary')), '')
	FROM (SELECT *, (SELECT json FROM document WHERE document.job = j.id AND kind IN ('more-result', 'result')
		ORDER BY kind LIMIT 1) AS result FROM job j) job;

PRAGMA user_version = 8;
