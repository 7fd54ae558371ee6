import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTRIBUTED_COMMANDS } from '../../../src/views/ids.ts'
import { projectDirectory } from '../../host/paths.ts'

interface Contributed {
  commands: Array<{ command: string }>
  menus: Record<string, Array<{ command?: string }>>
  keybindings: Array<{ command: string }>
}

describe('the commands of package.json', () => {
  const manifest = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
  const { commands, menus, keybindings } = manifest.contributes as Contributed

  it('are those that have a handler', () => {
    const contributed = commands.map(({ command }) => command)
    assert.deepEqual(contributed.toSorted(), [...CONTRIBUTED_COMMANDS].sort())
  })

  it('are the only ones in menus and keybindings', () => {
    const used = [...Object.values(menus).flat(), ...keybindings].flatMap(({ command }) => command ?? [])
    const known = new Set<string>(CONTRIBUTED_COMMANDS)
    assert.deepEqual(
      used.filter(command => command.startsWith('parley.') && !known.has(command)),
      [],
    )
  })
})
