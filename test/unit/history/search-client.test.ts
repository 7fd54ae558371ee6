import assert from 'node:assert/strict'
import path from 'node:path'
import * as esbuild from 'esbuild'
import { silentLogger } from '../../../src/common/logger.ts'
import { parseSearch } from '../../../src/common/search-query.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { SearchClient } from '../../../src/history/search/search-client.ts'
import { until } from '../../support/until.ts'
import { useTemporaryFolder } from '../editor/temporary-folder.ts'

const sqlite: typeof import('node:sqlite') | undefined = process.getBuiltinModule('node:sqlite')
const SCRIPT = path.join(import.meta.dirname, '../../../src/history/search/search-worker.ts')

describe('the search in its thread', () => {
  if (!sqlite) return
  const folder = useTemporaryFolder()

  it('finds what is indexed after the search began', async () => {
    const script = path.join(folder(), 'search-worker.cjs')
    await esbuild.build({
      entryPoints: [SCRIPT],
      outfile: script,
      bundle: true,
      platform: 'node',
      format: 'cjs',
    })
    const conversations = path.join(folder(), 'conversations.db')
    const storage = new ConversationStorage({ file: conversations, secrets: new SecretRegistry(), sqlite })
    const { transcripts } = storage
    const files = { conversations, file: path.join(folder(), 'search.db') }
    const client = new SearchClient({ transcripts, script, files, log: silentLogger })
    try {
      // the last of them is indexed after the search began
      const entries = Array.from({ length: 3000 }, (_, position) => ({
        position,
        entry: {
          kind: 'message' as const,
          id: `m${position}`,
          turn: 1,
          role: 'user' as const,
          blocks: [
            {
              type: 'text' as const,
              text: position === 2999 ? 'sought' : `number${position} ${'and more words '.repeat(20)}`,
            },
          ],
        },
      }))
      transcripts.write('a', 'long', { replace: true, entries, terminals: [] })
      let found: string[] = []
      client.search(parseSearch('sought', Date.now()), undefined, hits => {
        found = hits.map(({ sessionId }) => sessionId)
      })
      await until(() => found.length > 0, 'the conversation')
      assert.deepEqual(found, ['long'])
    } finally {
      client.dispose()
      storage.dispose()
    }
  })
})
