-- a database of schema 9
BEGIN TRANSACTION;
CREATE TABLE audit (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	time_ns INTEGER NOT NULL,
	who TEXT NOT NULL,			-- as job.submitter
	name TEXT NOT NULL,			-- of the token
	address TEXT NOT NULL,
	action TEXT NOT NULL,
	target TEXT NOT NULL
) STRICT;
CREATE TABLE boot (
	job INTEGER NOT NULL REFERENCES job (id),
	boot INTEGER NOT NULL,
	pair INTEGER NOT NULL,
	arm TEXT NOT NULL CHECK (arm IN ('base', 'patched')),
	host TEXT NOT NULL,
	clock TEXT NOT NULL,
	valid INTEGER NOT NULL,
	reason TEXT NOT NULL,
	detail TEXT NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	first_sample_ns INTEGER NOT NULL,
	hello TEXT, machine TEXT, control INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (job, boot)
) STRICT, WITHOUT ROWID;
INSERT INTO "boot" VALUES(1,0,0,'base','local','icount',1,'','',1790000000000000000,1790000000000000009,1790000000000000005,'{"kernel":"6.12.0"}',NULL,0);
INSERT INTO "boot" VALUES(1,1,0,'patched','local','icount',1,'','',1790000000000000001,1790000000000000010,1790000000000000006,'{"kernel":"6.12.0"}',NULL,0);
INSERT INTO "boot" VALUES(7,0,0,'base','local','icount',1,'','',1790000000000000000,1790000000000000009,1790000000000000005,'{"kernel":"6.12.0"}',NULL,0);
CREATE TABLE calibration (
	host TEXT NOT NULL,
	config_sha256 TEXT NOT NULL,
	clock TEXT NOT NULL,
	benchmark TEXT NOT NULL,
	params TEXT NOT NULL,
	job INTEGER NOT NULL REFERENCES job (id),
	time_ns INTEGER NOT NULL,
	json TEXT NOT NULL,
	PRIMARY KEY (host, config_sha256, clock, benchmark, params, job)
) STRICT, WITHOUT ROWID;
CREATE TABLE document (
	job INTEGER NOT NULL REFERENCES job (id),
	kind TEXT NOT NULL,
	json TEXT NOT NULL,
	PRIMARY KEY (job, kind)
) STRICT;
INSERT INTO "document" VALUES(1,'result','{"method": "regrlab-stats 1", "comparisons": []}');
INSERT INTO "document" VALUES(7,'progress','{"stage": "measure", "step": "boot 2 of 4", "done": 1, "total": 4, "eta_s": 9}');
CREATE TABLE host (
	name TEXT NOT NULL PRIMARY KEY,
	accelerator TEXT NOT NULL DEFAULT '',
	qemu_version TEXT NOT NULL DEFAULT '',
	libvirt_version TEXT NOT NULL DEFAULT '',
	boots_valid INTEGER NOT NULL DEFAULT 0,
	boots_failed INTEGER NOT NULL DEFAULT 0,
	last_boot_ns INTEGER NOT NULL DEFAULT 0
, drained INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO "host" VALUES('local','tcg','7.2.0','9.0.0',3,0,1790000000000000000,0);
CREATE TABLE host_event (
	id INTEGER PRIMARY KEY,
	host TEXT NOT NULL,
	time_ns INTEGER NOT NULL,
	what TEXT NOT NULL,		-- up, down, drained, resumed
	message TEXT NOT NULL
) STRICT;
CREATE TABLE host_state (
	host TEXT NOT NULL PRIMARY KEY,
	json TEXT NOT NULL,			-- the last host-state event
	seen_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE idempotency (
	key TEXT NOT NULL PRIMARY KEY,
	digest TEXT NOT NULL,
	job INTEGER NOT NULL REFERENCES job (id),
	created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency" VALUES('key-1','digest',4,1790000000000000000);
CREATE TABLE job (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	state TEXT NOT NULL,
	tree TEXT NOT NULL,
	priority INTEGER NOT NULL,
	spec TEXT NOT NULL,
	reason TEXT NOT NULL DEFAULT '',
	message TEXT NOT NULL DEFAULT '',
	failed_arm TEXT NOT NULL DEFAULT '',
	host TEXT NOT NULL DEFAULT '',
	cancel_asked INTEGER NOT NULL DEFAULT 0,
	created_ns INTEGER NOT NULL,
	started_ns INTEGER NOT NULL DEFAULT 0,
	finished_ns INTEGER NOT NULL DEFAULT 0,
	-- how far the run directory has been taken in
	last_seq INTEGER NOT NULL DEFAULT 0,
	events_offset INTEGER NOT NULL DEFAULT 0,
	samples_offset INTEGER NOT NULL DEFAULT 0,
	samples INTEGER NOT NULL DEFAULT 0
, submitter TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "job" VALUES(1,'done','linux',0,'{"job": 1, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 1", "author": "A <a@example.org>", "seed": "7"}','','','','local',0,1790000000000000001,1790000000000000101,1790000000000001001,10,1000,900,6,'');
INSERT INTO "job" VALUES(2,'apply-failed','linux',0,'{"job": 2, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 2", "author": "A <a@example.org>", "seed": "7"}','patch-does-not-apply','Patch 1 does not apply.','','',0,1790000000000000002,1790000000000000102,1790000000000001002,0,0,0,0,'');
INSERT INTO "job" VALUES(3,'cancelled','linux',0,'{"job": 3, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 3", "author": "A <a@example.org>", "seed": "7"}','','','','',0,1790000000000000003,1790000000000000103,1790000000000001003,0,0,0,0,'');
INSERT INTO "job" VALUES(4,'queued','linux',0,'{"job": 4, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 4", "author": "A <a@example.org>", "seed": "7"}','','','','',0,1790000000000000004,0,0,0,0,0,0,'');
INSERT INTO "job" VALUES(5,'building','linux',0,'{"job": 5, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 5", "author": "A <a@example.org>", "seed": "7"}','','','','',0,1790000000000000005,1790000000000000105,0,0,0,0,0,'');
INSERT INTO "job" VALUES(6,'waiting-for-host','linux',0,'{"job": 6, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 6", "author": "A <a@example.org>", "seed": "7"}','','','','',0,1790000000000000006,1790000000000000106,0,0,0,0,0,'');
INSERT INTO "job" VALUES(7,'measuring','linux',0,'{"job": 7, "tree": "linux", "base": "HEAD", "has_series": true, "benchmarks": ["aging"], "subject": "mm: change 7", "author": "A <a@example.org>", "seed": "7"}','','','','local',0,1790000000000000007,1790000000000000107,0,9,1000,900,3,'');
CREATE TABLE job_count (
	state TEXT NOT NULL PRIMARY KEY,
	jobs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "job_count" VALUES('apply-failed',1);
INSERT INTO "job_count" VALUES('building',1);
INSERT INTO "job_count" VALUES('cancelled',1);
INSERT INTO "job_count" VALUES('done',1);
INSERT INTO "job_count" VALUES('measuring',1);
INSERT INTO "job_count" VALUES('queued',1);
INSERT INTO "job_count" VALUES('waiting-for-host',1);
CREATE TABLE job_file (
	job INTEGER NOT NULL REFERENCES job (id),
	name TEXT NOT NULL,
	content BLOB NOT NULL,
	PRIMARY KEY (job, name)
) STRICT;
INSERT INTO "job_file" VALUES(1,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(2,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(3,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(4,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(5,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(6,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
INSERT INTO "job_file" VALUES(7,'series.mbox',X'46726F6D3A2041203C61406578616D706C652E6F72673E0A5375626A6563743A20780A');
CREATE VIRTUAL TABLE job_index USING fts5 (
	subject, author, commits, tags, summary UNINDEXED, verdicts UNINDEXED, prefix = '2 4'
);
INSERT INTO "job_index" VALUES('mm: change 1','A <a@example.org>','HEAD  ','tree6C696E7578 state646F6E65 ended series6D6D3A206368616E67652031 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 2','A <a@example.org>','HEAD  ','tree6C696E7578 state6170706C792D6661696C6564 ended series6D6D3A206368616E67652032 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 3','A <a@example.org>','HEAD  ','tree6C696E7578 state63616E63656C6C6564 ended series6D6D3A206368616E67652033 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 4','A <a@example.org>','HEAD  ','tree6C696E7578 state717565756564 live series6D6D3A206368616E67652034 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 5','A <a@example.org>','HEAD  ','tree6C696E7578 state6275696C64696E67 live series6D6D3A206368616E67652035 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 6','A <a@example.org>','HEAD  ','tree6C696E7578 state77616974696E672D666F722D686F7374 live series6D6D3A206368616E67652036 benchmark6167696E67','','');
INSERT INTO "job_index" VALUES('mm: change 7','A <a@example.org>','HEAD  ','tree6C696E7578 state6D6561737572696E67 live series6D6D3A206368616E67652037 benchmark6167696E67','','');
CREATE TABLE ledger (
	job INTEGER NOT NULL REFERENCES job (id),
	benchmark TEXT NOT NULL,
	host TEXT NOT NULL,
	clock TEXT NOT NULL,
	source TEXT NOT NULL CHECK (source IN ('job', 'control')),
	sets INTEGER NOT NULL,		-- parameter sets that were tested together
	p REAL,				-- the smallest, adjusted for them
	alarm INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	PRIMARY KEY (job, benchmark)
) STRICT, WITHOUT ROWID;
CREATE TABLE machine_time (
	submitter TEXT NOT NULL,
	hour INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	PRIMARY KEY (submitter, hour)
) STRICT, WITHOUT ROWID;
CREATE TABLE mail_in (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	message_id TEXT NOT NULL UNIQUE,
	root TEXT NOT NULL,			-- Message-ID of the first mail of its thread
	received_ns INTEGER NOT NULL,
	sender TEXT NOT NULL,
	subject TEXT NOT NULL,
	list TEXT NOT NULL,			-- List-Id, or empty
	is_part INTEGER NOT NULL,		-- a patch or a cover letter
	-- testing: its job was made, and a report is owed
	state TEXT NOT NULL CHECK (state IN ('new', 'waiting', 'held', 'testing', 'done', 'refused')),
	reason TEXT NOT NULL,
	job INTEGER NOT NULL DEFAULT 0,		-- 0: none
	raw BLOB NOT NULL			-- of patches, empty after 90 days
) STRICT;
CREATE TABLE mail_out (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	about TEXT NOT NULL UNIQUE,		-- what it says, so that nothing is said twice
	queued_ns INTEGER NOT NULL,
	recipients TEXT NOT NULL,		-- addresses, a blank between them
	subject TEXT NOT NULL,
	message BLOB NOT NULL,
	-- sending: marked before it is handed over, and never again queued unless it surely was not taken
	state TEXT NOT NULL CHECK (state IN ('held', 'queued', 'sending', 'sent', 'failed', 'dropped')),
	attempts INTEGER NOT NULL DEFAULT 0,
	next_ns INTEGER NOT NULL DEFAULT 0,	-- not before
	changed_ns INTEGER NOT NULL,
	said TEXT NOT NULL DEFAULT ''		-- by the server, or why
) STRICT;
CREATE TABLE mail_refusal (
	address TEXT PRIMARY KEY,
	time_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE mail_stop (since_ns INTEGER NOT NULL) STRICT;
CREATE TABLE measure (
	id INTEGER PRIMARY KEY,
	benchmark TEXT NOT NULL,
	params TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	better TEXT NOT NULL,
	UNIQUE (benchmark, params, metric, unit, better)
) STRICT;
INSERT INTO "measure" VALUES(1,'aging','nproc=1;lru=mglru','time','ms','lower');
CREATE TABLE sample (
	job INTEGER NOT NULL,
	number INTEGER NOT NULL,	-- the line of samples.jsonl, 0 first
	boot INTEGER NOT NULL,
	measure INTEGER NOT NULL REFERENCES measure (id),
	run INTEGER NOT NULL,
	pass INTEGER NOT NULL,
	value REAL,			-- null: missing
	PRIMARY KEY (job, number),
	FOREIGN KEY (job, boot) REFERENCES boot (job, boot)
) STRICT, WITHOUT ROWID;
INSERT INTO "sample" VALUES(1,0,0,1,0,0,20.5);
INSERT INTO "sample" VALUES(1,1,0,1,0,1,21.5);
INSERT INTO "sample" VALUES(1,2,0,1,0,2,22.5);
INSERT INTO "sample" VALUES(1,3,1,1,0,0,21.5);
INSERT INTO "sample" VALUES(1,4,1,1,0,1,22.5);
INSERT INTO "sample" VALUES(1,5,1,1,0,2,23.5);
INSERT INTO "sample" VALUES(7,0,0,1,0,0,20.5);
INSERT INTO "sample" VALUES(7,1,0,1,0,1,21.5);
INSERT INTO "sample" VALUES(7,2,0,1,0,2,22.5);
CREATE TABLE token (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	role TEXT NOT NULL CHECK (role IN ('read', 'submit', 'admin')),
	hash TEXT NOT NULL,			-- HMAC-SHA256 of the secret, in hex
	queue_max INTEGER NOT NULL,		-- of each limit, 0 is none
	requests_per_min INTEGER NOT NULL,
	hours_per_day INTEGER NOT NULL,
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER NOT NULL DEFAULT 0
, expires_ns INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX job_by_state ON job (state, id);
CREATE INDEX job_live ON job (id) WHERE finished_ns = 0;
CREATE TRIGGER job_count_insert AFTER INSERT ON job BEGIN
	INSERT INTO job_count VALUES (new.state, 1)
		ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_update AFTER UPDATE OF state ON job WHEN old.state <> new.state BEGIN
	UPDATE job_count SET jobs = jobs - 1 WHERE state = old.state;
	INSERT INTO job_count VALUES (new.state, 1)
		ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_delete AFTER DELETE ON job BEGIN
	UPDATE job_count SET jobs = jobs - 1 WHERE state = old.state;
END;
CREATE INDEX idempotency_by_age ON idempotency (created_ns);
CREATE INDEX job_live_by_submitter ON job (submitter) WHERE finished_ns = 0;
CREATE INDEX ledger_by_host ON ledger (host, benchmark, clock, job);
CREATE INDEX host_event_by_host ON host_event (host, id);
CREATE INDEX boot_disturbed ON boot (host) WHERE reason = 'disturbed';
CREATE INDEX job_by_end ON job (finished_ns, id) WHERE finished_ns > 0;
CREATE INDEX mail_in_whole ON mail_in (received_ns) WHERE is_part AND raw != x'';
CREATE INDEX mail_in_by_root ON mail_in (root);
CREATE INDEX mail_in_open ON mail_in (state, id) WHERE state IN ('new', 'waiting', 'held', 'testing');
CREATE INDEX mail_in_by_sender ON mail_in (sender, received_ns);
CREATE INDEX mail_out_open ON mail_out (state, next_ns, id) WHERE state IN ('held', 'queued', 'sending');
CREATE INDEX mail_out_sent ON mail_out (changed_ns) WHERE state IN ('sending', 'sent');
PRAGMA writable_schema=OFF;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('job',7);
COMMIT;
PRAGMA user_version = 9;
