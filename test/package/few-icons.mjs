// Divides the codicons into those that Parley's code names, which a page loads first, and all others (a user can name any
// as an agent's icon), which `icons.css` adds when one is shown: for each, the rules and a font. Subsetting a font takes
// seconds and is deterministic, so the results are kept.
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import subsetFont from 'subset-font'
import { keptFile, keptFolder } from './kept-file.mjs'

/** The space, since the font that contains it determines the baseline. Without it, icons would be too high. */
const SPACE = 0x20

const FONT_FACE = /@font-face\s*\{[^}]*\}/
/** A rule that shows an icon: its class without the prefix, and its code point. */
const RULE = /\.codicon-([\w-]+):before\s*\{\s*content:\s*"\\(\w+)"\s*;?\s*\}/g

/** @type {import('esbuild').Plugin} */
export const fewIcons = {
  name: 'few-icons',
  setup(build) {
    /** @type {Map<string, Uint8Array>} */
    const fonts = new Map()

    /** The rule that loads the font of these icons. */
    async function fontFace(
      /** @type {'named' | 'others'} */ name,
      /** @type {number[]} */ points,
      folder = '',
    ) {
      const font = await readFile(join(folder, 'codicon.ttf'))
      const packages = await readFile('package-lock.json')
      const text = String.fromCodePoint(...points)
      const cut = () => subsetFont(font, text, { targetFormat: 'woff2' })
      fonts.set(`codicon-${name}.woff2`, await keptFile(keptFolder, ['woff2', font, text, packages], cut))
      const range = points.map(point => `U+${point.toString(16)}`).join(',')
      return `@font-face{font-family:codicon;font-display:block;src:url(codicon-${name}.woff2) format("woff2");unicode-range:${range}}\n`
    }

    build.onLoad({ filter: /[\\/]codicon\.css$/ }, async ({ path, suffix }) => {
      const css = await readFile(path, 'utf8')
      const folder = dirname(path)
      const { named, others } = iconsOf(css)
      const rules = (/** @type {Set<number>} */ points) =>
        css.replace(RULE, (rule, _, point) => (points.has(Number.parseInt(point, 16)) ? rule : ''))
      const contents =
        suffix === '?others'
          ? [await fontFace('others', sorted(others), folder), ...(rules(others).match(RULE) ?? [])].join(
              '\n',
            )
          : rules(named).replace(FONT_FACE, await fontFace('named', [SPACE, ...sorted(named)], folder))
      return { loader: 'css', contents, resolveDir: folder }
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
  for (const [, name, point] of css.matchAll(RULE)) {
    const points = words.has(name) ? named : others
    points.add(Number.parseInt(point, 16))
  }
  for (const point of named) others.delete(point)
  return { named, others }
}

const sorted = (/** @type {Set<number>} */ points) => [...points].sort((a, b) => a - b)
