import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { projectDirectory } from '../host/paths.ts'

/** English as it stands in the sources, and what a user reads instead. Both may hold places: `{0}`. */
type Words = ReadonlyArray<readonly [english: string, translated: string]>

/**
 * Has everything that is looked for in a page by its English words be found by those of another language, too: what takes
 * the pictures names things as they are called in English. Holds for all pages of this process.
 */
export function findInLanguage(page: Page, language: string): void {
  const words = wordsOf(language)
  const inLanguage = (what: unknown) => (isText(what) ? translatedPattern(what, words) : what)
  const prototypes = [page.mainFrame(), page.locator('body')].map(one => Object.getPrototypeOf(one))
  for (const prototype of prototypes) {
    replace(prototype, 'getByRole', ([role, options]) => [role, withText(options, 'name', inLanguage)])
    replace(prototype, 'locator', ([selector, options]) => [
      selector,
      withText(options, 'hasText', inLanguage),
    ])
    replace(prototype, 'filter', ([options]) => [withText(options, 'hasText', inLanguage)])
    for (const name of ['getByText', 'getByTitle', 'getByLabel', 'getByPlaceholder'])
      replace(prototype, name, ([text, ...rest]) => [inLanguage(text), ...rest])
    // lists find commands and agents by their names
    replace(prototype, 'fill', ([text, ...rest]) => [typed(text, words), ...rest])
  }
}

type Arguments = unknown[]

function replace(prototype: Record<string, unknown>, name: string, change: (given: Arguments) => Arguments) {
  const original = prototype[name]
  if (typeof original !== 'function') return
  prototype[name] = function (this: unknown, ...given: Arguments) {
    return original.apply(this, change(given))
  }
}

function withText(options: unknown, key: string, change: (text: unknown) => unknown): unknown {
  if (typeof options !== 'object' || options === null) return options
  const { exact, ...rest } = options as Record<string, unknown>
  if (!(key in rest)) return options
  const text = rest[key]
  // a pattern is never exact by itself
  if (exact === true && typeof text === 'string')
    return { ...rest, [key]: change(new RegExp(`^${escaped(text)}$`)) }
  return { ...rest, [key]: change(text) }
}

const isText = (what: unknown): what is string | RegExp => typeof what === 'string' || what instanceof RegExp
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const placesOpen = (text: string) => escaped(text).replace(/\\\{\d+\\\}/g, '.*')

/** The text itself, or a translation of any text that it is found in. */
function translatedPattern(text: string | RegExp, words: Words): RegExp {
  const own = typeof text === 'string' ? new RegExp(escaped(text), 'i') : text
  const number = /\d+/.exec(own.source)?.[0] ?? '7'
  const start = own.source.startsWith('^') ? '^' : ''
  const found = words.flatMap(([english, translated]) => {
    const spoken = english.replace(/\{\d+\}/g, number)
    // as the whole of what it is looked for in, where the places are filled
    const filled = typeof text === 'string' && new RegExp(`^${placesOpen(english)}$`, 'i').test(text)
    if (!filled && !own.test(spoken) && !own.test(english)) return []
    return [`${start}${placesOpen(translated)}`]
  })
  return new RegExp(
    [own.source, ...new Set([...found, ...withKind(own.source, words)])].join('|'),
    own.flags.includes('i') ? 'i' : '',
  )
}

/** `Edit: …`, as a line's name starts for a screen reader: the agent's own words come after it. */
function withKind(source: string, words: Words): string[] {
  const [, kind, rest] = /^\^([A-Z][a-z]+)(: .*)$/.exec(source) ?? []
  return words
    .filter(([english]) => english === kind)
    .map(([, translated]) => `^${escaped(translated)}${rest}`)
}

/** A title in the command palette, or the whole name of something. */
function typed(text: unknown, words: Words): unknown {
  if (typeof text !== 'string') return text
  const [, mark, title] = /^(>?)(.*)$/s.exec(text)!
  return `${mark}${words.find(([english]) => english === title)?.[1] ?? title}`
}

function wordsOf(language: string): Words {
  const read = (file: string) =>
    JSON.parse(readFileSync(join(projectDirectory, file), 'utf8')) as Record<string, string>
  const bundle = Object.entries(read(`l10n/bundle.l10n.${language}.json`))
  const english = read('package.nls.json')
  const titles = Object.entries(read(`package.nls.${language}.json`)).flatMap(([key, translated]) => {
    const title = english[key]
    if (title === undefined) return []
    return [[title, translated] as const, [`Parley: ${title}`, `Parley: ${translated}`] as const]
  })
  return [...bundle, ...titles]
}
