import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { projectDirectory } from '../host/paths.ts'
import { bundleOf, LONGER, type TestLanguage } from '../support/longer-texts.ts'

/** An English text and its translation. Both can contain placeholders: `{0}`. */
type Words = ReadonlyArray<readonly [english: string, translated: string]>

/**
 * Makes locators with English names also match the texts of another language, so that the code that takes the
 * screenshots works in every language. Applies to all pages of this process, until the returned function is called.
 */
export function translateLocators(page: Page, language: TestLanguage): () => void {
  const words = wordsOf(language)
  const inLanguage = (what: unknown) => (isText(what) ? translatedPattern(what, words) : what)
  const prototypes = [page.mainFrame(), page.locator('body')].map(one => Object.getPrototypeOf(one))
  const undo: Array<() => void> = []
  const replace: Replace = (prototype, name, change) => {
    const original = prototype[name]
    if (typeof original !== 'function') return
    prototype[name] = function (this: unknown, ...given: Arguments) {
      return original.apply(this, change(given))
    }
    undo.push(() => {
      prototype[name] = original
    })
  }
  for (const prototype of prototypes) {
    replace(prototype, 'getByRole', ([role, options]) => [role, withText(options, 'name', inLanguage)])
    replace(prototype, 'locator', ([selector, options]) => [
      selector,
      withText(options, 'hasText', inLanguage),
    ])
    replace(prototype, 'filter', ([options]) => [withText(options, 'hasText', inLanguage)])
    for (const name of ['getByText', 'getByTitle', 'getByLabel', 'getByPlaceholder'])
      replace(prototype, name, ([text, ...rest]) => [inLanguage(text), ...rest])
    // text typed into lists can be a command's or an agent's name
    replace(prototype, 'fill', ([text, ...rest]) => [typed(text, words), ...rest])
  }
  return () => {
    for (const one of undo) one()
  }
}

type Arguments = unknown[]
type Replace = (
  prototype: Record<string, unknown>,
  name: string,
  change: (given: Arguments) => Arguments,
) => void

function withText(options: unknown, key: string, change: (text: unknown) => unknown): unknown {
  if (typeof options !== 'object' || options === null) return options
  const { exact, ...rest } = options as Record<string, unknown>
  if (!(key in rest)) return options
  const text = rest[key]
  // a regular expression is never exact
  if (exact === true && typeof text === 'string')
    return { ...rest, [key]: change(new RegExp(`^${escaped(text)}$`)) }
  return { ...rest, [key]: change(text) }
}

const isText = (what: unknown): what is string | RegExp => typeof what === 'string' || what instanceof RegExp
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
const placesOpen = (text: string) => escaped(text).replace(/\\\{\d+\\\}/g, '.*')

/** Matches the text itself, or the translation of any text that contains it. */
function translatedPattern(text: string | RegExp, words: Words): RegExp {
  const own = typeof text === 'string' ? new RegExp(escaped(text), 'i') : text
  const number = /\d+/.exec(own.source)?.[0] ?? '7'
  const start = own.source.startsWith('^') ? '^' : ''
  const found = words.flatMap(([english, translated]) => {
    const spoken = english.replace(/\{\d+\}/g, number)
    // the whole text, with its placeholders filled in
    const filled = typeof text === 'string' && new RegExp(`^${placesOpen(english)}$`, 'i').test(text)
    if (!filled && !own.test(spoken) && !own.test(english)) return []
    return [`${start}${placesOpen(translated)}`]
  })
  return new RegExp(
    [own.source, ...new Set([...found, ...withKind(own.source, words)])].join('|'),
    own.flags.includes('i') ? 'i' : '',
  )
}

/** `Edit: …`, the start of a row's name for a screen reader, which the agent's own text follows. */
function withKind(source: string, words: Words): string[] {
  const [, kind, rest] = /^\^([A-Z][a-z]+)(: .*)$/.exec(source) ?? []
  return words
    .filter(([english]) => english === kind)
    .map(([, translated]) => `^${escaped(translated)}${rest}`)
}

/** Translates a title in the command palette, or a whole name. */
function typed(text: unknown, words: Words): unknown {
  if (typeof text !== 'string') return text
  const [, mark, title] = /^(>?)(.*)$/s.exec(text)!
  return `${mark}${words.find(([english]) => english === title)?.[1] ?? title}`
}

function wordsOf(language: TestLanguage): Words {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  const bundle = Object.entries(read(bundleOf(language)))
  // what only the workbench shows stays in English
  if (language === LONGER) return bundle
  const english = read(join(projectDirectory, 'package.nls.json'))
  const translations = Object.entries(read(join(projectDirectory, `package.nls.${language}.json`)))
  const titles = translations.flatMap(([key, translated]) => {
    const title = english[key]
    if (title === undefined) return []
    return [[title, translated] as const, [`Parley: ${title}`, `Parley: ${translated}`] as const]
  })
  return [...bundle, ...titles]
}
