import assert from 'node:assert/strict'
import { FilePast } from '../../../src/changes/model/file-past.ts'
import { NEW_TEXT } from '../../../src/changes/model/file-state.ts'
import { TrackedFile } from '../../../src/changes/model/tracked-file.ts'

describe('what happened to a file', () => {
  const COUNT = 30
  const text = (line: string) =>
    Array.from({ length: COUNT }, (_, i) => `${line} ${i}.\nbetween ${i}\n`).join('')
  const turns = [{ session: 's', turn: 1 }]

  for (const calls of ['one tool call', 'many tool calls'])
    it(`stays small: ${calls} reported many changes that were seen at once`, () => {
      const start = TrackedFile.of('/w/a', { text: text('line'), attributes: NEW_TEXT })
      const now = { text: text('agent'), attributes: NEW_TEXT }
      let file = start.clone()
      const by = { turns, uncertain: true } as const
      file.edit(now, by)
      const past = new FilePast(start, file)
      past.add(file, [{ state: now, by, how: 'seen' }], false)
      for (let i = 0; i < COUNT; i++) {
        const toolCallId = calls === 'one tool call' ? 'all' : `${i}`
        const change = {
          ...{ operation: 'modify' as const, path: '/w/a' },
          ...{ oldText: `line ${i}.`, newText: `agent ${i}.` },
        }
        const author = { turns, toolCallId }
        const claim = { toolCallId, author, change, begun: true, done: true, applied: false }
        file = past.name(claim, file, now, past.texts)!
      }
      assert.equal(file.text, now.text)
      const authors = file.hunks(() => true).flatMap(hunk => hunk.authors)
      assert.deepEqual([authors.length > 0, authors.filter(({ uncertain }) => uncertain)], [true, []])
      assert.ok(past.texts.length <= 9, `${past.texts.length} texts`)
    })
})
