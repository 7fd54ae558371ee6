import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

const folder = join(projectDirectory, 'src/webview/styles')
const withoutComments = (file: string) =>
  readFileSync(join(folder, file), 'utf8').replace(/\/\*.*?\*\//gs, ' ')
const tokens = withoutComments('tokens.css')
const others = readdirSync(folder)
  .filter(file => file.endsWith('.css') && file !== 'tokens.css')
  .map(file => ({ file, text: withoutComments(file) }))

/** The declarations of the styles that use the tokens, as `file: property: value`, if the property's name matches. */
function declarations(property: RegExp): [place: string, value: string][] {
  return others.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<=[{;]\s*)(-*[a-z][a-z-]*):\s+([^;{}]+);/g)]
      .filter(([, name]) => property.test(name!))
      .map(([whole, , value]): [string, string] => [`${file}: ${whole.replace(/\s+/g, ' ')}`, value!]),
  )
}

describe('the styles of the pages', () => {
  it('take what replaces a missing theme color, and every color that is not of the theme, from tokens.css', () => {
    const found = declarations(/./)
      .filter(
        ([, value]) =>
          /var\(\s*--vscode-[\w-]+,\s*(?:var|color-mix)\(/.test(value) ||
          /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?)\(/i.test(value),
      )
      .map(([place]) => place)
    assert.deepEqual(found, [])
  })

  it('write distances and corners that have a token as the token', () => {
    const valuesOf = (name: RegExp) => new Set([...tokens.matchAll(name)].map(([, value]) => value!))
    for (const [property, known] of [
      [/^(?:margin|padding|scroll-padding)(?:-|$)|gap$/, valuesOf(/--space-\d+: (\d+px);/g)],
      [/radius$/, valuesOf(/--radius[\w-]*: (\d+px);/g)],
    ] as const) {
      assert.ok(known.size > 5)
      const all = declarations(property)
      assert.ok(all.length > 50)
      const found = all.filter(([, value]) => (value.match(/\d+px/g) ?? []).some(one => known.has(one)))
      assert.deepEqual(
        found.map(([place]) => place),
        [],
      )
    }
  })

  it('take sizes of text, shadows of what floats, and times from tokens.css', () => {
    const sized = declarations(/^font-size$/).filter(
      ([, value]) => !/^(?:inherit|1em|var\(.*\))$/.test(value),
    )
    const timed = declarations(/^(?:transition|animation)/).filter(([, value]) => /\d(?:ms|s)\b/.test(value))
    assert.deepEqual(
      [...sized, ...timed].map(([place]) => place),
      [],
    )
  })

  it('use all tokens, and only properties that something sets', () => {
    const all = [tokens, ...others.map(({ text }) => text)].join('\n')
    const used = new Set([...all.matchAll(/var\(\s*(--[\w-]+)/g)].map(([, name]) => name!))
    const defined = new Set([...tokens.matchAll(/(?<=[{;]\s*)(--[\w-]+):/g)].map(([, name]) => name!))
    assert.ok(defined.size > 100)
    assert.deepEqual(
      [...defined].filter(name => !used.has(name)),
      [],
    )
    const local = new Set([...all.matchAll(/(?<=[{;]\s*|@property )(--[\w-]+)/g)].map(([, name]) => name!))
    const unknown = [...all.matchAll(/var\(\s*(--(?!vscode-|parley-)[\w-]+)\s*\)/g)]
      .map(([, name]) => name!)
      // set by a component
      .filter(name => !local.has(name) && !['--composer-height', '--gutter'].includes(name))
    assert.deepEqual(unknown, [])
  })
})
