import assert from 'node:assert/strict'
import { withFilesApart, withoutMachineText } from '../../../../src/acp/v1/machine-text.ts'

const text = (value: string) => ({ type: 'text' as const, text: value })

describe('machine text in a replay', () => {
  it('is a resource where an agent told its model of the workspace (quirk 12)', () => {
    const context = '<session_context>\nThis is the Gemini CLI.\n</session_context>'
    assert.deepEqual(withoutMachineText(text(context)), {
      type: 'resource',
      uri: 'session_context',
      mimeType: 'text/plain',
      text: context,
      agentOnly: true,
    })
  })

  it('is left out where it says but that a tool answered (quirk 12)', () => {
    assert.equal(withoutMachineText(text('[Function Response: read_file]')), undefined)
    assert.equal(withoutMachineText(text('[Function Response: a][Function Response: b]')), undefined)
  })

  it('is a file where it is what came with a prompt (quirk 12)', () => {
    const heading = '\n--- Content from referenced context ---'
    const file = (uri: string, words: string) => ({
      type: 'resource',
      uri,
      mimeType: 'text/plain',
      text: words,
    })
    const replayed = `look at @a.txt${heading}\nContent from @file:///w/a.txt:\none\ntwo\n\nContent from @b.txt:\nthree`
    assert.deepEqual(withFilesApart(text(replayed)), [
      text('look at @a.txt'),
      file('file:///w/a.txt', 'one\ntwo\n'),
      file('b.txt', 'three'),
    ])
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
    for (const other of [link, text('look'), text(`look${heading}`), text('\nContent from @a:\nx')]) {
      assert.deepEqual(withFilesApart(other), [other])
    }
  })

  it('is not what a person wrote', () => {
    for (const written of [
      'hello',
      '<b>hello</b>',
      '<session_context> is what it says',
      '[Function Response: a] was printed. Why?',
      '[x]',
      '',
    ]) {
      assert.deepEqual(withoutMachineText(text(written)), text(written))
    }
    const link = { type: 'resource_link' as const, uri: 'file:///a', name: 'a' }
    assert.equal(withoutMachineText(link), link)
  })
})
