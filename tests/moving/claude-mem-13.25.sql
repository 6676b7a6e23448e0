-- Made by claude-mem 13.25.3 itself (its worker, over its own import and save calls), then dumped: the tables that are read.
-- SECRET stands where the test puts something that looks like one.
CREATE TABLE schema_versions (
  id INTEGER PRIMARY KEY,
  version INTEGER UNIQUE NOT NULL,
  applied_at TEXT NOT NULL
  );
INSERT INTO schema_versions VALUES (37, 52, '2026-11-16T18:04:54.965Z');
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL,
  memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL,
  platform_source TEXT NOT NULL DEFAULT 'claude',
  user_prompt TEXT,
  started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL,
  completed_at TEXT,
  completed_at_epoch INTEGER,
  status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
  , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO sdk_sessions VALUES (1, 'c-1', 'm-1', 'app', 'claude', 'why does the ferry stop?', '2026-03-01T10:00:00.000Z', 1772359200000, NULL, NULL, 'completed', NULL, 0, NULL, NULL, NULL);
INSERT INTO sdk_sessions VALUES (2, 'c-2', 'm-2', 'other', 'codex', 'unlock the vault', '2026-03-02T10:00:00.000Z', 1772445600000, NULL, NULL, 'completed', NULL, 0, NULL, NULL, NULL);
INSERT INTO sdk_sessions VALUES (3, 'manual-content-app-claude', 'manual-app-claude', 'app', 'claude', NULL, '2026-11-16T18:05:27.136Z', 1794852327136, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
CREATE TABLE "observations" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  text TEXT,
  type TEXT NOT NULL,
  title TEXT,
  subtitle TEXT,
  facts TEXT,
  narrative TEXT,
  concepts TEXT,
  files_read TEXT,
  files_modified TEXT,
  prompt_number INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
  FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
  );
INSERT INTO observations VALUES (1, 'm-1', 'app', NULL, 'discovery', 'The ferry waits for the tide', 'Timetable reader', '["The harbour clock runs in UTC","Low water cancels two trips"]', 'The timetable is read before the tide table, so the ferry waits.', '["how-it-works","gotcha"]', '["src/tide.py"]', '["src/ferry.py"]', 1, '2026-03-01T10:01:00.000Z', 1772359260000, 120, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (2, 'm-1', 'app', NULL, 'bugfix', 'Key left in the log', NULL, '[]', 'The deploy key is SECRET in the log.', '[]', '[]', '[]', 1, '2026-03-01T10:02:00.000Z', 1772359320000, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (3, 'm-2', 'other', NULL, 'decision', 'The vault opens at nine', NULL, '[]', 'The vault of the other project opens at nine.', '[]', '[]', '[]', 1, '2026-03-02T10:01:00.000Z', 1772445660000, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (4, 'manual-app-claude', 'app', NULL, 'discovery', 'Second key', 'Manual memory', '[]', 'The lighthouse keeper has the second key.', '[]', '[]', '[]', NULL, '2026-11-16T18:05:27.136Z', 1794852327136, 0, '7f428dd9d6d1d49d', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "session_summaries" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  request TEXT,
  investigated TEXT,
  learned TEXT,
  completed TEXT,
  next_steps TEXT,
  files_read TEXT,
  files_edited TEXT,
  notes TEXT,
  prompt_number INTEGER,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
  FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
  );
INSERT INTO session_summaries VALUES (1, 'm-1', 'app', 'Find why the ferry stops', 'The timetable reader', 'Tides come second', 'Order of reading changed', 'Measure the harbour clock', '["src/tide.py"]', '["src/ferry.py"]', NULL, 1, '2026-03-01T10:05:00.000Z', 1772359500000, 10, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "user_prompts" (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_db_id INTEGER,
  content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
  FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
  );
INSERT INTO user_prompts VALUES (1, 1, 'c-1', 1, 'why does the ferry stop at noon?', '2026-03-01T10:00:00.000Z', 1772359200000, NULL, NULL, NULL, '1');
