import assert from 'node:assert/strict'
import type { Attachment } from '../../../../src/bridge/conversation.ts'
import { joinDrafts } from '../../../../src/common/draft.ts'
import type { WrittenDraft } from '../../../../src/webview/conversation/composer/draft.ts'
import { withoutPrompt } from '../../../../src/webview/conversation/composer/take-back.ts'

describe('taking a prompt back from the input', () => {
  let ids = 0
  const file = (name: string): Attachment => ({
    id: `i${++ids}`,
    label: name,
    icon: 'file',
    content: { type: 'resource_link', uri: `file:///w/${name}`, name },
  })
  const image = (data: string): Attachment => ({
    id: `i${++ids}`,
    label: 'Image',
    icon: 'image',
    content: { type: 'image', data, mimeType: 'image/png' },
  })
  const prompt = (): WrittenDraft => {
    const item = file('a.ts')
    const text = 'Look at @a.ts, please'
    return { text, chips: [{ from: 8, to: 13, id: item.id }], items: [item, image('AAAA')] }
  }
  const mine: WrittenDraft = { text: 'mine', chips: [], items: [image('BBBB')] }

  it('leaves the draft from before, with its images', () => {
    assert.deepEqual(withoutPrompt(joinDrafts(mine, prompt()), prompt()), mine)
    assert.deepEqual(withoutPrompt(prompt(), prompt()), { text: '', chips: [], items: [] })
    const blank: WrittenDraft = { text: '', chips: [], items: [image('CC')] }
    assert.deepEqual(withoutPrompt(joinDrafts(mine, blank), blank), mine)
  })

  it('changes nothing if the user has changed the text, a chip or an image of the prompt', () => {
    const joined = joinDrafts(mine, prompt())
    for (const draft of [
      { ...joined, text: `${joined.text}!` },
      { ...prompt(), text: `${prompt().text}please ${prompt().text}` },
      { ...joined, chips: [] },
      { ...joined, items: joined.items.slice(0, -1) },
      {
        ...joined,
        items: joined.items.map(one => (one.label === 'a.ts' ? { ...file('b.ts'), id: one.id } : one)),
      },
    ])
      assert.equal(withoutPrompt(draft, prompt()), draft)
  })
})
