import assert from 'node:assert/strict'
import type { ContentBlock } from '../../../src/acp/model.ts'
import { createSessionState } from '../../../src/conversation/reducer/reducing-state.ts'
import { fileNameOfTitle, recordedTitle, sessionTitle } from '../../../src/sessions/session-title.ts'

describe('the title of a session', () => {
  const titled = (...blocks: ContentBlock[]) => {
    const state = createSessionState()
    state.entries.push({ id: '1', turn: 1, kind: 'message', role: 'user', blocks })
    return sessionTitle(state)
  }

  it('is made from the first line of the first prompt, with its mentions', () => {
    const link: ContentBlock = { type: 'resource_link', uri: 'file:///p/a.ts', name: 'a.ts' }
    const text = (words: string): ContentBlock => ({ type: 'text', text: words })
    assert.equal(titled(text('Look at '), link, text(' and say more\nplease')), 'Look at @a.ts and say more')
    assert.equal(titled(text('\n\n  first \nsecond')), 'first')
    assert.equal(titled(text('Look at @file:///home/me/p/a.ts and b.ts')), 'Look at @a.ts and b.ts')
    assert.equal(titled(text('x'.repeat(200))), `${'x'.repeat(50)}…`)
  })

  it('is the one that the user gave, also once it is closed', () => {
    assert.equal(recordedTitle({ title: 'Hello', givenTitle: 'Mine' }), 'Mine')
    assert.equal(recordedTitle({ title: 'Hello' }), 'Hello')
    assert.equal(recordedTitle(undefined), undefined)
  })

  it('is a file name without half a character, which could not be part of a URI', () => {
    for (const title of [`${'x'.repeat(59)}😀`, 'a\ud83d b'])
      assert.doesNotThrow(() => encodeURIComponent(fileNameOfTitle(title)))
    assert.equal(fileNameOfTitle('a😀b'), 'a😀b')
  })

  it('is empty until there is text', () => {
    assert.equal(sessionTitle(createSessionState()), undefined)
    assert.equal(titled({ type: 'image', data: '', mimeType: 'image/png' }), undefined)
  })
})
