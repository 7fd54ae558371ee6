import assert from 'node:assert/strict'
import { fittingPlaceholder } from '../../../../src/webview/conversation/composer/placeholder.ts'

describe('the placeholder of the composer', () => {
  const hints = ['@ for context, / for commands', '@ for context']
  const shown = (name: string, letters: number, sentence = (name: string) => `Ask ${name}…`) =>
    fittingPlaceholder({ sentence, name, hints }, text => text.length <= letters)

  it('names the agent, and has as many hints as there is space for', () => {
    assert.equal(shown('Codex', 60), 'Ask Codex… @ for context, / for commands')
    assert.equal(shown('Codex', 40), 'Ask Codex… @ for context, / for commands')
    assert.equal(shown('Codex', 39), 'Ask Codex… @ for context')
    assert.equal(shown('Codex', 23), 'Ask Codex…')
    assert.equal(shown('Codex', 10), 'Ask Codex…')
  })

  it("shortens the agent's name last, and not the words after it", () => {
    assert.equal(shown('Gemini Enterprise', 14), 'Ask Gemini En…')
    assert.equal(
      shown('Gemini Enterprise', 14, name => `向 ${name} 提问…`),
      '向 Gemini… 提问…',
    )
  })

  it('is whole if there is no space at all, as before the first layout', () => {
    assert.equal(shown('Codex', 0), 'Ask Codex…')
  })
})
