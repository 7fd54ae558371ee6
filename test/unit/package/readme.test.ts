import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPresets } from '../../../src/agents/presets.ts'
import { SETTING_NAMES } from '../../../src/common/settings.ts'
import { projectDirectory } from '../../host/paths.ts'

const read = (name: string) => readFileSync(join(projectDirectory, name), 'utf8')

describe('the README', () => {
  const readme = read('README.md')
  const texts: Record<string, string> = JSON.parse(read('package.nls.json'))
  const { commands, menus, keybindings } = JSON.parse(read('package.json')).contributes as {
    commands: Array<{ command: string; title: string }>
    menus: { commandPalette: Array<{ command: string; when: string }> }
    keybindings: Array<{ key: string }>
  }
  const section = (title: string) => readme.split(`\n## ${title}\n`)[1]?.split(/\n#+ /)[0] ?? ''
  /** The cells of each row of a table. */
  const rows = (text: string) =>
    [...text.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, row]) => row!.split(' | '))
  const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

  it('lists every setting', () => {
    const listed = rows(section('Settings')).flatMap(([names]) => codes(names!))
    assert.deepEqual(listed.sort(), [...SETTING_NAMES].sort())
  })

  it('names no setting that does not exist', () => {
    const names = new Set(SETTING_NAMES.map(name => `parley.${name}`))
    const colors = /^parley\.\w+Line(Background|Border)$/
    const named = codes(readme).filter(code => /^parley\.[\w.]+$/.test(code) && !colors.test(code))
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
    const listed = rows(section('Commands')).flatMap(([, names]) =>
      names!.replace(/ \([^)]*\)/g, '').split(', '),
    )
    assert.deepEqual(listed.sort(), titles.sort())
  })

  it('names every default keybinding', () => {
    const plain = readme.replace(/<\/?kbd>/g, '').toLowerCase()
    for (const { key } of keybindings) {
      const last = key.split(' ').at(-1)!
      const before = key.slice(0, -last.length).replace(/[+']/g, '\\$&')
      // or as the second of two, as in Ctrl+' K and U
      assert.match(
        plain,
        new RegExp(`${before}(?:\\w+ and\\s+)?${last.replace(/[+']/g, '\\$&')}(?!\\w)`),
        key,
      )
    }
  })

  it('lists the agents that Parley detects, with their commands', () => {
    const listed = rows(section('Agents')).flatMap(([id, name, launches]) =>
      launches === undefined ? [] : [[codes(id!)[0], name, codes(launches)]],
    )
    const presets = agentPresets.map(({ id, name, launches }) => [
      id,
      name,
      launches.map(({ command, args }) => [command, ...args].join(' ')),
    ])
    assert.deepEqual(listed, presets)
  })

  it('links only to sections that it has', () => {
    const anchor = (title: string) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
    const anchors = new Set([...readme.matchAll(/^#+ (.*)$/gm)].map(([, title]) => anchor(title!)))
    for (const [, target] of readme.matchAll(/\]\(#([^)]+)\)/g)) assert.ok(anchors.has(target!), target)
  })
})
