import assert from 'node:assert/strict'
import { JSDOM } from 'jsdom'
import { decodeHTMLStrict } from '../../../../src/webview/markdown/entities.ts'

describe('character entities', () => {
  const before = Reflect.get(globalThis, 'document')
  beforeEach(() => Reflect.set(globalThis, 'document', new JSDOM('').window.document))
  afterEach(() => Reflect.set(globalThis, 'document', before))

  it('are read according to CommonMark', () => {
    const known = {
      amp: '&',
      lt: '<',
      auml: 'ä',
      nbsp: '\u00a0',
      semi: ';',
      ngE: '≧̸',
      NewLine: '\n',
      Afr: '𝔄',
    }
    for (const [name, character] of Object.entries(known))
      assert.equal(decodeHTMLStrict(`&${name};`), character, name)
  })

  it('are kept as text if the name is unknown', () => {
    for (const name of ['nothing', 'notx', 'ampx', 'x', 'AMp', 'copyright'])
      assert.equal(decodeHTMLStrict(`&${name};`), `&${name};`)
  })
})
