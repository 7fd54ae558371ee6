import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const SOURCE = path.resolve(import.meta.dirname, '../../../src/acp')

describe('the wire schemas', () => {
  it('are all compared with the official types when the project is compiled', () => {
    const held = ['v1', 'v2']
      .map(version => readFileSync(path.join(import.meta.dirname, version, 'wire-types.ts'), 'utf8'))
      .join()
    const schemas = ['v1', 'v2', 'wire'].flatMap(room =>
      readdirSync(path.join(SOURCE, room)).flatMap(file => {
        const text = readFileSync(path.join(SOURCE, room, file), 'utf8')
        return [...text.matchAll(/^export const (\w+Schema) = /gm)].map(([, name]) => name ?? '')
      }),
    )
    assert.ok(schemas.length > 40, `${schemas.length} schemas were found`)
    assert.deepEqual(
      schemas.filter(name => !held.includes(`.${name},`)),
      [],
    )
  })
})
