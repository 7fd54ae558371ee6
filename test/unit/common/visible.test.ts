import assert from 'node:assert/strict'
import { hasHidden, visible, visibleWords } from '../../../src/common/visible.ts'

describe('what hides in a text', () => {
  it('is spelled out', () => {
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

  it('is no joiner that a script or an emoji needs', () => {
    for (const words of ['می\u200cخواهم', '👩\u200d💻', 'क\u200dष']) assert.equal(visibleWords(words), words)
    assert.equal(visibleWords('re\u200dject'), 're‹U+200D›ject')
    assert.equal(visibleWords('ü\u200c'), 'ü‹U+200C›')
    assert.equal(visibleWords('Reject\u202e'), 'Reject‹U+202E›')
    assert.equal(visible('👩\u200d💻'), '👩‹U+200D›💻')
  })
})
