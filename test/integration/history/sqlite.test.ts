import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSearch } from '../../../src/common/search-query.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { SearchIndex } from '../../../src/history/search/search-index.ts'

// The unit tests of the history run in plain Node. What they need of VS Code is its SQLite.
describe('the extension host', () => {
  it('stores conversations in its SQLite, and finds them by their words @floor', () => {
    const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
    assert.ok(sqlite)
    const directory = mkdtempSync(join(tmpdir(), 'parley-sqlite-'))
    const conversations = join(directory, 'conversations.db')
    const open = () => new ConversationStorage({ file: conversations, secrets: new SecretRegistry() })
    try {
      const index = new SearchIndex({ sqlite, file: join(directory, 'search.db'), conversations })
      const written = open()
      written.transcripts.onDidWrite(transcript => index.written(transcript))
      written.transcripts.write('agent', 'session', {
        replace: true,
        entries: [
          {
            position: 0,
            entry: {
              kind: 'message',
              id: 'e',
              turn: 1,
              role: 'agent',
              blocks: [{ type: 'text', text: 'The tokenizer reads żółć.' }],
            },
          },
        ],
        terminals: [],
      })
      written.dispose()

      const read = open()
      assert.equal(read.transcripts.read('agent', 'session')?.entries.length, 1)
      read.dispose()
      while (index.work(5));
      const run = index.search({ query: parseSearch('tokeni żół', Date.now()) })
      while (!run.isDone) run.step(5)
      assert.deepEqual(
        run.hits().map(({ sessionId }) => sessionId),
        ['session'],
      )
      index.close()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
