BEGIN TRANSACTION;
CREATE TABLE entities (
                id TEXT PRIMARY KEY,
                name TEXT NOT NULL,
                type TEXT DEFAULT 'unknown',
                properties TEXT DEFAULT '{}',
                created_at TEXT DEFAULT CURRENT_TIMESTAMP
            );
INSERT INTO "entities" VALUES('ferry','Ferry','unknown','{}','2026-11-16 18:57:09');
INSERT INTO "entities" VALUES('pier_two','Pier two','unknown','{}','2026-11-16 18:57:09');
CREATE TABLE triples (
                id TEXT PRIMARY KEY,
                subject TEXT NOT NULL,
                predicate TEXT NOT NULL,
                object TEXT NOT NULL,
                valid_from TEXT,
                valid_to TEXT,
                confidence REAL DEFAULT 1.0,
                source_closet TEXT,
                source_file TEXT,
                source_drawer_id TEXT,
                adapter_name TEXT,
                extracted_at TEXT DEFAULT CURRENT_TIMESTAMP,
                FOREIGN KEY (subject) REFERENCES entities(id),
                FOREIGN KEY (object) REFERENCES entities(id)
            );
INSERT INTO "triples" VALUES('t_ferry_leaves_from_pier_two_99445bc84a62','ferry','leaves_from','pier_two','2026-01-01',NULL,1.0,NULL,NULL,NULL,NULL,'2026-11-16 18:57:09');
CREATE INDEX idx_triples_subject ON triples(subject);
CREATE INDEX idx_triples_object ON triples(object);
CREATE INDEX idx_triples_predicate ON triples(predicate);
CREATE INDEX idx_triples_valid ON triples(valid_from, valid_to);
COMMIT;
