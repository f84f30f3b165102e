-- A file of format 1, as the first version with a file store wrote it: vectors as JSON, no embedders, no deletions.
PRAGMA application_id = 1097036920;
PRAGMA user_version = 1;
CREATE TABLE memories (
    id TEXT PRIMARY KEY,
    table_name TEXT NOT NULL,
    room_id TEXT,
    entity_id TEXT,
    agent_id TEXT,
    world_id TEXT,
    created_at NUMERIC NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    embedding TEXT
);
CREATE INDEX memories_by_time ON memories (table_name, created_at);
CREATE TABLE entities (
    id TEXT PRIMARY KEY,
    names TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at NUMERIC NOT NULL
);
INSERT INTO memories VALUES
    ('m2', 'messages', 'lobby', 'u1', 'agent', 'w', 2000, '{"text":"Hello","source":"chat"}', '{"k":[1,2]}', NULL),
    ('m1', 'messages', 'lobby', 'u1', 'agent', 'w', 2000, '{"text":"Hello again"}', '{}', NULL),
    ('d1', 'documents', NULL, NULL, 'agent', NULL, 1000, '{"text":"north"}', '{}', '[0.0, 1.0]'),
    ('d2', 'documents', NULL, NULL, 'agent', NULL, 1000.5, '{"text":"east"}', '{"when":{"$":"date","is":"2026-01-01"}}', '[0.1, 0]'),
    ('d3', 'documents', NULL, NULL, 'agent', NULL, 1000, '{"text":"nowhere"}', '{}', NULL);
INSERT INTO entities VALUES ('u1', '["Ada"]', '{"preferences":{"language":"en"}}', 7);
