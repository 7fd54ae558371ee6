import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { gzipSync, strFromU8, unzipSync } from 'fflate'
import { vsixFile } from '../host/paths.ts'

/** The maximum compressed size of a conversation's first load, in bytes. */
const most = 250_000
/** The maximum number of files: each one is served by VS Code's service worker. */
const mostFiles = 10

describe('the size of the webviews', () => {
  const root = 'extension/dist/webview'
  const files = unzipSync(readFileSync(vsixFile))
  const file = (path: string) => files[path] ?? assert.fail(`There is no ${path}`)
  const compressed = (path: string) => (path.endsWith('.woff2') ? file(path) : gzipSync(file(path))).length
  const relative = (from: string, to: string) => posix.join(posix.dirname(from), to)

  /** A script and all its static imports. */
  function scripts(path: string, known = new Set<string>()): Set<string> {
    if (known.has(path)) return known
    known.add(path)
    // minified: `import{a as b}from"./c.js"` or `import"./c.js"`, but not `import("./c.js")`
    const imports = strFromU8(file(path)).matchAll(/\b(?:import|export)(?:[\w$*{},\s]*\bfrom)?"(\.[^"]+)"/g)
    for (const [, to] of imports) scripts(relative(path, to!), known)
    return known
  }

  /** A page's scripts and styles, and the font with Parley's icons. */
  function firstLoad(page: string): string[] {
    const own = `${root}/${page}.css`
    const styles = own in files ? own : `${root}/pages.css`
    const font = /url\("?([^")]*codicon-named[^")]*)"?\)/.exec(strFromU8(file(styles)))?.[1]
    assert.ok(font, 'the font of the icons')
    return [...scripts(`${root}/${page}.js`), styles, relative(styles, font)]
  }

  for (const page of ['conversation', 'history', 'agents', 'mcp', 'compare', 'inspector']) {
    it(`is less than 250 kB for the first load: ${page}`, () => {
      const parts = firstLoad(page).map(path => ({
        path: path.slice(root.length + 1),
        bytes: compressed(path),
      }))
      const sum = parts.reduce((total, { bytes }) => total + bytes, 0)
      const list = parts.map(({ path, bytes }) => `${path}: ${bytes}`).join('\n')
      if (page !== 'inspector') assert.ok(parts.length > 3, 'the chunks it shares are found')
      assert.ok(sum <= most, `${sum} bytes:\n${list}`)
      assert.ok(parts.length <= mostFiles, list)
    })
  }
})

describe('activation', () => {
  const source = strFromU8(unzipSync(readFileSync(vsixFile))['extension/dist/extension.cjs']!)

  it('loads only one small file', () => {
    const loaded = [...source.matchAll(/\b(?:require|getBuiltinModule)\("([^"]+)"\)/g)].map(
      ([, name]) => name!,
    )
    // the extension host has already loaded Node's own modules
    assert.deepEqual([...new Set(loaded)].sort(), [
      'node:crypto',
      'node:fs',
      'node:module',
      'node:path',
      'vscode',
    ])
    assert.ok(source.length < 20_000, `${source.length} characters`)
  })

  it('leaves the rest for later', () => {
    const later = [...source.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, name]) => name!)
    assert.deepEqual([...new Set(later)].sort(), ['./code-actions.js', './services.js'])
  })
})
