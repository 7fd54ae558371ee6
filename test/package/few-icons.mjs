// Creates two fonts of the codicons: a small one with the icons that Parley's code names, which a page loads first, and
// one with all others, which the browser fetches when such an icon is shown (an agent can name any). Subsetting a font
// takes seconds and is deterministic, so `out/fonts` caches the results.
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import subsetFont from 'subset-font'
import { keptFile } from './kept-file.mjs'

/** The space, since the font that contains it determines the baseline. Without it, icons would be too high. */
const SPACE = 0x20

/** @type {import('esbuild').Plugin} */
export const fewIcons = {
  name: 'few-icons',
  setup(build) {
    /** @type {Map<string, Uint8Array>} */
    const fonts = new Map()
    build.onLoad({ filter: /[\\/]codicon\.css$/ }, async ({ path }) => {
      const css = await readFile(path, 'utf8')
      const font = await readFile(join(dirname(path), 'codicon.ttf'))
      const packages = await readFile('package-lock.json')
      const { named, others } = iconsOf(css)
      let faces = ''
      for (const [name, points] of Object.entries({ named, others })) {
        const text = String.fromCodePoint(...points)
        const cut = () => subsetFont(font, text, { targetFormat: 'woff2' })
        fonts.set(`codicon-${name}.woff2`, await keptFile('out/fonts', ['woff2', font, text, packages], cut))
        const range = [...(name === 'named' ? [SPACE] : []), ...points]
          .map(point => `U+${point.toString(16)}`)
          .join(',')
        faces += `@font-face{font-family:codicon;font-display:block;src:url(codicon-${name}.woff2) format("woff2");unicode-range:${range}}\n`
      }
      const contents = css.replace(/@font-face\s*\{[^}]*\}/, faces)
      return { loader: 'css', contents, resolveDir: dirname(path) }
    })
    build.onResolve({ filter: /^codicon-\w+\.woff2$/ }, ({ path }) => ({ path, namespace: 'codicons' }))
    build.onLoad({ filter: /.*/, namespace: 'codicons' }, ({ path }) => ({
      contents: fonts.get(path) ?? '',
      loader: 'file',
    }))
  },
}

/** The code points of the icons that Parley's source names, and of all others. */
function iconsOf(/** @type {string} */ css) {
  const words = new Set()
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' })) {
    if (!/\.(tsx?|css)$/.test(file)) continue
    const source = readFileSync(join('src', file), 'utf8')
    for (const [, , name] of source.matchAll(/(?<=(['"`]))([a-z][a-z0-9-]*)(?=\1)/g)) words.add(name)
    for (const [, name] of source.matchAll(/codicon-([a-z0-9-]+)/g)) words.add(name)
  }
  const named = new Set()
  const others = new Set()
  for (const [, name, point] of css.matchAll(/\.codicon-([\w-]+):before\s*\{\s*content:\s*"\\(\w+)"/g)) {
    const list = words.has(name) ? named : others
    list.add(Number.parseInt(point, 16))
  }
  const sorted = (/** @type {Iterable<number>} */ points) => [...points].sort((a, b) => a - b)
  return { named: sorted(named), others: sorted([...others].filter(point => !named.has(point))) }
}
