BEGIN TRANSACTION;
CREATE TABLE history (
                        id           TEXT PRIMARY KEY,
                        memory_id    TEXT,
                        old_memory   TEXT,
                        new_memory   TEXT,
                        event        TEXT,
                        created_at   DATETIME,
                        updated_at   DATETIME,
                        is_deleted   INTEGER,
                        actor_id     TEXT,
                        role         TEXT
                    );
INSERT INTO "history" VALUES('281722a3-1b65-4479-8d08-72a412bf17d2','53a2d5b3-de73-4921-939f-e98d17dcac0b',NULL,'The ferry waits for the tide','ADD','2026-11-16T18:39:48.059515+00:00','2026-11-16T18:39:48.059515+00:00',0,NULL,'user');
INSERT INTO "history" VALUES('5a0c453a-abec-4025-a9fb-2044b80284bf','9f37b698-c3e5-4464-a431-fca7a099b518',NULL,'Low water cancels two trips','ADD','2026-11-16T18:39:48.064081+00:00','2026-11-16T18:39:48.064081+00:00',0,NULL,'assistant');
INSERT INTO "history" VALUES('a0e64a14-0bef-4d99-9f6b-d65b901f00f3','c4e28af4-dfb0-4832-b584-2cf3e93b4ca9',NULL,'The pier needs new planks','ADD','2026-11-16T18:39:48.074912+00:00','2026-11-16T18:39:48.074912+00:00',0,NULL,'user');
INSERT INTO "history" VALUES('80a37791-c3a5-40c1-91fa-1734c007f2ac','9b656fe7-29bd-4ed1-8ceb-cffb32e540d5',NULL,'The bell is broken','ADD','2026-11-16T18:39:48.079789+00:00','2026-11-16T18:39:48.079789+00:00',0,NULL,'user');
INSERT INTO "history" VALUES('87f6fe4a-4728-451f-9c41-6f2bf01d09be','62e50ed9-2fc4-4128-9e12-6582ca060760',NULL,'The oven is cold','ADD','2026-11-16T18:39:48.083170+00:00','2026-11-16T18:39:48.083170+00:00',0,NULL,'user');
INSERT INTO "history" VALUES('ab8194a2-d35c-48da-a101-e8d62bbec502','9f37b698-c3e5-4464-a431-fca7a099b518','Low water cancels two trips','Low water cancels three trips','UPDATE','2026-11-16T18:39:48.064081+00:00','2026-11-16T18:39:48.088310+00:00',0,NULL,'assistant');
INSERT INTO "history" VALUES('120cc51f-dde3-4f9e-a279-6113636bfcba','9b656fe7-29bd-4ed1-8ceb-cffb32e540d5','The bell is broken',NULL,'DELETE','2026-11-16T18:39:48.079789+00:00','2026-11-16T18:39:48.092806+00:00',1,NULL,'user');
CREATE TABLE messages (
                        id TEXT PRIMARY KEY,
                        session_scope TEXT,
                        role TEXT,
                        content TEXT,
                        name TEXT,
                        created_at DATETIME
                    );
COMMIT;
