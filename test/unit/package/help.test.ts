import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { agentPresets } from '../../../src/agents/presets.ts'
import { SETTING_NAMES } from '../../../src/common/settings.ts'
import type { Results } from '../../agents/conformance.ts'
import results from '../../agents/conformance-results.json' with { type: 'json' }
import { projectDirectory } from '../../host/paths.ts'

const read = (name: string) => readFileSync(join(projectDirectory, name), 'utf8')

describe('the README and the help', () => {
  const pages = [
    'README.md',
    ...readdirSync(join(projectDirectory, 'media/help'))
      .filter(name => name.endsWith('.md'))
      .map(name => `media/help/${name}`),
  ]
  const page = (name: string) => read(`media/help/${name}.md`)
  const texts: Record<string, string> = JSON.parse(read('package.nls.json'))
  const { commands, menus } = JSON.parse(read('package.json')).contributes as {
    commands: Array<{ command: string; title: string }>
    menus: { commandPalette: Array<{ command: string; when: string }> }
  }
  /** The cells of each row of a table. */
  const rows = (text: string) =>
    [...text.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, row]) => row!.split(' | '))
  const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

  it('lists every setting', () => {
    const listed = rows(page('settings')).flatMap(([names]) => codes(names!))
    assert.deepEqual(listed.sort(), [...SETTING_NAMES].sort())
  })

  it('names no setting that does not exist', () => {
    const names = new Set(SETTING_NAMES.map(name => `parley.${name}`))
    const colors = /^parley\.\w+Line(Background|Border)$/
    const named = pages
      .flatMap(name => codes(read(name)))
      .filter(code => /^parley\.[\w.]+$/.test(code) && !colors.test(code))
    assert.deepEqual(
      named.filter(name => !names.has(name)),
      [],
    )
  })

  it('lists every command of the Command Palette', () => {
    const hidden = new Set(
      menus.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command),
    )
    const titles = commands
      .filter(({ command }) => !hidden.has(command))
      .map(({ title }) => texts[title.slice(1, -1)])
    const listed = rows(page('commands')).flatMap(([, names]) => names!.split(', '))
    assert.deepEqual(listed.sort(), titles.sort())
  })

  it('lists what the check found in agents, as the tests of real agents find it', () => {
    const ids = (found: string[] = []) => found.map(id => `\`${id}\``).join(', ') || 'none'
    const expected = Object.values(results as Results).flatMap(({ agent, name = agent, versions }) =>
      Object.entries(versions).map(([version, { failed, notOffered, notChecked }]) =>
        [name, version, ids(failed), ids(notOffered), ids(notChecked)].join(' | '),
      ),
    )
    const listed = rows(page('checking-agents')).map(cells => cells.join(' | '))
    assert.deepEqual(listed, expected)
  })

  it('lists the agents that Parley detects, with their commands', () => {
    const listed = rows(page('agents').split(/\n## /)[0]!).flatMap(([id, name, launches]) =>
      launches === undefined ? [] : [[codes(id!)[0], name, codes(launches)]],
    )
    const presets = agentPresets.map(({ id, name, launches }) => [
      id,
      name,
      launches.map(({ command, args }) => [command, ...args].join(' ')),
    ])
    assert.deepEqual(listed, presets)
  })

  it('links only to pages and sections that exist', () => {
    const anchor = (title: string) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
    const anchors = (name: string) =>
      [...read(name).matchAll(/^#+ (.*)$/gm)].map(([, title]) => anchor(title!))
    let count = 0
    for (const from of pages)
      for (const [, file, section] of read(from).matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g)) {
        const target = file ? normalize(join(dirname(from), file)) : from
        const link = `${file}#${section} in ${from}`
        if (target.endsWith('.md')) assert.ok(pages.includes(target) || target === 'CONTRIBUTING.md', link)
        if (section !== undefined) assert.ok(anchors(target).includes(section), link)
        count++
      }
    assert.ok(count > 20)
  })

  it('has a way from the first page of the help and from the README to every page', () => {
    for (const name of pages.filter(name => !/README|help\/help/.test(name))) {
      assert.ok(read('README.md').includes(`](${name})`), name)
      assert.ok(page('help').includes(`](${name.replace('media/help/', '')})`), name)
    }
  })

  it('shows pictures that are in its folder, need no network and no script, and weigh little', () => {
    const folder = join(projectDirectory, 'media/help')
    const pictures = readdirSync(folder).filter(name => !name.endsWith('.md'))
    const shown = pages
      .filter(name => name.startsWith('media/help/'))
      .flatMap(name => [...read(name).matchAll(/!\[([^\]]+)\]\(([^)]*)\)/g)].map(([, , file]) => file!))
    // VS Code's preview loads no others of the package
    assert.deepEqual([...new Set(shown)].sort(), pictures.sort())
    for (const name of pictures) {
      const text = read(`media/help/${name}`)
      assert.doesNotMatch(text, /<script|<foreignObject|\son\w+=|(?:href|src)="(?!#)|url\(|@import/, name)
      assert.match(text, /prefers-reduced-motion/, name)
      assert.ok(deflateRawSync(text, { level: 9 }).length < 8000, name)
    }
  })

  it('has a README that can be read in one go', () => {
    assert.ok(read('README.md').split('\n').length <= 250)
  })
})
