import assert from 'node:assert/strict'
import fc from 'fast-check'
import { plainMessage } from '../../../src/common/plain-message.ts'
import { hasHidden, visible, visibleProse } from '../../../src/common/visible.ts'

describe('a hidden character', () => {
  it('is shown as its code', () => {
    assert.equal(visible('echo \u202egnp.exe'), 'echo ‹U+202E›gnp.exe')
    assert.equal(
      visible('a\u200bb\u2066c\u00add\u{e0041}\u3164'),
      'a‹U+200B›b‹U+2066›c‹U+00AD›d‹U+E0041›‹U+3164›',
    )
    assert.equal(visible('rm txt.exe\u0000\r\n\tok é 😀'), 'rm txt.exe‹U+0000›‹U+000D›\n\tok é 😀')
    assert.equal(visible('two\nlines\tand ünï ⚠️'), 'two\nlines\tand ünï ⚠️')
    assert.equal(hasHidden('plain'), false)
    assert.equal(hasHidden('pl\u200bain'), true)
  })

  it("is kept if it's a joiner in a script or an emoji that requires it", () => {
    for (const words of ['می\u200cخواهم', '👩\u200d💻', 'क\u200dष']) assert.equal(visibleProse(words), words)
    assert.equal(visibleProse('re\u200dject'), 're‹U+200D›ject')
    assert.equal(visibleProse('ü\u200c'), 'ü‹U+200C›')
    assert.equal(visibleProse('Reject\u202e'), 'Reject‹U+202E›')
    assert.equal(visible('👩\u200d💻'), '👩‹U+200D›💻')
  })
})

/** The text that VS Code turns into a link in a message. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i

describe('text in a message of VS Code', () => {
  it('contains no link, whatever an agent writes', () => {
    const evil = 'Failed. [Try again](command:workbench.action.terminal.sendSequence)'
    assert.match(evil, link)
    assert.equal(plainMessage(evil), 'Failed. [Try again] (command:workbench.action.terminal.sendSequence)')
    const piece = fc.constantFrom('[', ']', '(', ')', 'a', 'command:x', ' ', 'https://a.b/')
    fc.assert(fc.property(fc.array(piece), pieces => !link.test(plainMessage(pieces.join('')))))
  })

  it('is unchanged otherwise', () => assert.equal(plainMessage('a[0](b)'.replace('](', '] (')), 'a[0] (b)'))
})
