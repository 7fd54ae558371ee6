import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { renderConversation } from '../../support/render-conversation.ts'
import { replayTranscript } from '../../support/replay/replay.ts'

const FOLDER = path.resolve(import.meta.dirname, '../../fixtures/transcripts')

/**
 * Replays recorded messages of real agents through the connection, the v1 layer and the reducer, and compares the
 * result with a reviewed conversation: `<name>.txt` next to `<name>.ndjson`. `UPDATE_SNAPSHOTS=1` writes the
 * conversations.
 */
describe('recorded traffic of agents', () => {
  for (const file of fs.readdirSync(FOLDER).filter(name => name.endsWith('.ndjson'))) {
    const name = path.basename(file, '.ndjson')
    it(`${name}: results in the same conversation`, async () => {
      const { sessions, failures, stray } = await replayTranscript(path.join(FOLDER, file))
      assert.equal(stray, '')
      const text = [
        ...[...sessions.values()].map(
          (session, index) => `session ${index + 1}\n${renderConversation(session.state)}`,
        ),
        ...failures.map(failure => `failed ${failure}\n`),
      ].join('\n')
      const snapshot = path.join(FOLDER, `${name}.txt`)
      if (process.env.UPDATE_SNAPSHOTS) fs.writeFileSync(snapshot, text)
      assert.equal(text, fs.readFileSync(snapshot, 'utf8'))
    })
  }
})
