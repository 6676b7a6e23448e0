CREATE TABLE "collections" (
    id TEXT PRIMARY KEY, -- unique globally
    name TEXT NOT NULL, -- unique per database
    dimension INTEGER,
    database_id TEXT NOT NULL REFERENCES databases(id) ON DELETE CASCADE, config_json_str TEXT, schema_str TEXT,
    UNIQUE (name, database_id)
);
CREATE TABLE "segments" (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    scope TEXT NOT NULL,
    collection TEXT REFERENCES collection(id) NOT NULL
);
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    segment_id TEXT NOT NULL,
    embedding_id TEXT NOT NULL,
    seq_id BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (segment_id, embedding_id)
);
CREATE TABLE embedding_metadata (
    id INTEGER REFERENCES embeddings(id),
    key TEXT NOT NULL,
    string_value TEXT,
    int_value INTEGER,
    float_value REAL, bool_value INTEGER,
    PRIMARY KEY (id, key)
);
INSERT INTO collections VALUES ('8c0027fa-a79d-4697-a7e2-83b7bb925166','mempalace_drawers',16,'00000000-0000-0000-0000-000000000000','{"_type": "CollectionConfigurationInternal"}',NULL);
INSERT INTO collections VALUES ('9b9d2247-9376-490c-8f93-3ed369853324','mempalace_closets',16,'00000000-0000-0000-0000-000000000000','{"_type": "CollectionConfigurationInternal"}',NULL);
INSERT INTO segments VALUES ('f2308033-e1ac-439e-bd1f-8a64cc0a081c','urn:chroma:segment/vector/hnsw-local-persisted','VECTOR','8c0027fa-a79d-4697-a7e2-83b7bb925166');
INSERT INTO segments VALUES ('68ee33a9-3c2f-4fb4-b38f-3b226583b2ae','urn:chroma:segment/metadata/sqlite','METADATA','8c0027fa-a79d-4697-a7e2-83b7bb925166');
INSERT INTO segments VALUES ('ce8c16ad-0040-485a-a049-16b3b47a9510','urn:chroma:segment/vector/hnsw-local-persisted','VECTOR','9b9d2247-9376-490c-8f93-3ed369853324');
INSERT INTO segments VALUES ('37f7407e-367c-4464-bc1d-058aef6d9ef4','urn:chroma:segment/metadata/sqlite','METADATA','9b9d2247-9376-490c-8f93-3ed369853324');
INSERT INTO embeddings VALUES (1,'68ee33a9-3c2f-4fb4-b38f-3b226583b2ae','drawer_proj_src_154f0fc943b09a0a3f0ea195',1,'2026-11-16 18:57:02');
INSERT INTO embeddings VALUES (2,'37f7407e-367c-4464-bc1d-058aef6d9ef4','closet_proj_src_1452c2c44d575102859c66ba_01',2,'2026-11-16 18:57:02');
INSERT INTO embeddings VALUES (3,'68ee33a9-3c2f-4fb4-b38f-3b226583b2ae','drawer_app_harbour_65caef8bb81e84c81cca3902',3,'2026-11-16 18:57:09');
INSERT INTO embeddings VALUES (4,'68ee33a9-3c2f-4fb4-b38f-3b226583b2ae','diary_wing_codex_20261116_185709766493_be25262111d2',4,'2026-11-16 18:57:09');
INSERT INTO embedding_metadata VALUES (1,'content_date_source','mtime',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'id_recipe','v3',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'chroma:document','The ferry waits for the tide. Low water cancels two trips. The pier needs new planks before the market.',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'chunk_total',NULL,1,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'source_file','/home/you/proj/src/ferry.md',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'source_mtime',NULL,NULL,1.79485541311573576928e+09,NULL);
INSERT INTO embedding_metadata VALUES (1,'added_by','mempalace',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'filed_at','2026-11-16T18:57:02.248407',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'last_modified','2026-11-16T18:57:02.248407',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'chunk_index',NULL,0,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'room','src',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'wing','proj',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'line_end',NULL,1,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'normalize_version',NULL,2,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'hall','general',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'line_start',NULL,1,NULL,NULL);
INSERT INTO embedding_metadata VALUES (1,'content_date','2026-11-16',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'normalize_version',NULL,2,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'source_file','/home/you/proj/src/ferry.md',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'filed_at','2026-11-16T18:57:02.333314',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'drawer_count',NULL,1,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'last_modified','2026-11-16T18:57:02.333314',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'wing','proj',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'chroma:document','proj/src/ferry||2026-11-16:L1-L1|→drawer_proj_src_154f0fc943b09a0a3f0ea195',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (2,'room','src',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'added_by','planner',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'source_file','',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'id_recipe','v3',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'chroma:document','The harbour master is called Ines and keeps the second key',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'filed_at','2026-11-16T18:57:09.559551',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'room','harbour',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'last_modified','2026-11-16T18:57:09.559551',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'chunk_index',NULL,0,NULL,NULL);
INSERT INTO embedding_metadata VALUES (3,'wing','app',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'hall','hall_diary',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'room','diary',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'filed_at','2026-11-16T18:57:09.766493',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'type','diary_entry',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'date','2026-11-16',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'wing','wing_codex',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'last_modified','2026-11-16T18:57:09.766493',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'topic','bell',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'agent','codex',NULL,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'chunk_index',NULL,0,NULL,NULL);
INSERT INTO embedding_metadata VALUES (4,'chroma:document','Fixed the bell today',NULL,NULL,NULL);
