import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAgentSettings } from '../../../src/agents/agent-settings.ts'
import { agentPresets } from '../../../src/agents/presets.ts'
import { isSettingName, readSettingValue, SETTING_NAMES, SETTINGS } from '../../../src/common/settings.ts'
import { type McpPlace, readMcpSource } from '../../../src/mcp/mcp-settings.ts'
import { projectDirectory } from '../../host/paths.ts'

interface Property {
  scope: string
  order?: number
  default: unknown
  type: string
  enum?: string[]
  examples?: string[]
  minimum?: number
  maximum?: number
}

const { contributes, capabilities } = JSON.parse(
  readFileSync(join(projectDirectory, 'package.json'), 'utf8'),
) as {
  contributes: {
    configuration: Array<{ title: string; order: number; properties: Record<string, Property> }>
  }
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } }
}
const groups = contributes.configuration
const properties = Object.assign({}, ...groups.map(group => group.properties)) as Record<string, Property>

describe('the table of settings', () => {
  it('is all in the Settings editor, related settings one after the other', () => {
    assert.deepEqual(Object.keys(properties).sort(), SETTING_NAMES.map(name => `parley.${name}`).sort())
    const count = groups.reduce((sum, group) => sum + Object.keys(group.properties).length, 0)
    assert.equal(count, SETTING_NAMES.length)
    const orderOf = (name: string) => properties[`parley.${name}`]?.order ?? 0
    assert.equal(orderOf('sendCodeActions') - orderOf('codeActions'), 1)
    assert.equal(orderOf('checkpoints.maximumSize') - orderOf('checkpoints.maximumAge'), 1)
  })

  it('accepts exactly what package.json allows', () => {
    for (const name of SETTING_NAMES) {
      const property = properties[`parley.${name}`]
      assert.ok(property, name)
      const { schema, default: otherwise } = SETTINGS[name]
      const takes = (value: unknown) => schema.safeParse(value).success
      assert.ok(takes(otherwise), name)
      for (const [type, value] of Object.entries({
        string: 'x',
        number: 1,
        array: [],
        object: {},
        boolean: true,
      }))
        if (property.enum === undefined)
          assert.equal(takes(value), property.type === type, `${name}: ${type}`)
        else assert.ok(!takes(value), `${name}: ${type}`)
      for (const value of property.enum ?? []) assert.ok(takes(value), `${name}: ${value}`)
      const { minimum, maximum } = property
      if (minimum !== undefined) assert.ok(takes(minimum) && !takes(minimum - 1), name)
      if (maximum !== undefined) assert.ok(takes(maximum) && !takes(maximum + 1), name)
      else if (property.type === 'number') assert.ok(takes(1e9), name)
    }
  })

  it('suggests the known agents as the default one', () => {
    const ids = [...agentPresets.map(({ id }) => id), 'demo']
    assert.deepEqual(properties['parley.defaultAgent']?.examples, ids)
  })

  it('has snippets for agents, servers and inputs that Parley reads without a complaint', () => {
    const found: Record<string, object[]> = {}
    const collect = (name: string, node: object) => {
      for (const [key, value] of Object.entries(node))
        if (key === 'defaultSnippets') {
          const bodies = value.map(({ body }: { body: object }) =>
            JSON.parse(JSON.stringify(body).replace(/\$\{\d+:([^}]*)\}/g, '$1')),
          )
          found[name] = [...(found[name] ?? []), ...bodies]
        } else if (value !== null && typeof value === 'object') collect(name, value)
    }
    for (const [name, property] of Object.entries(properties)) collect(name, property)

    const named = (value: object) => ('command' in value || 'type' in value ? { one: value } : value)
    assert.ok(found['parley.agents'] && found['parley.mcpServers'])
    for (const value of found['parley.agents']) {
      const { agents, problems } = readAgentSettings([{ scope: 'user', value: named(value) }])
      assert.deepEqual(problems, [], JSON.stringify(value))
      assert.equal(agents.length, 1)
    }
    const place: McpPlace = { kind: 'settings', label: 'parley.mcpServers', scope: 'user' }
    for (const value of found['parley.mcpServers']) {
      const isWhole = 'servers' in value
      const whole = isWhole ? value : 'id' in value ? { inputs: [value] } : { servers: named(value) }
      const source = readMcpSource(place, whole)
      assert.deepEqual(source.problems, [], JSON.stringify(whole))
      const read = [...source.entries.filter(({ server }) => server), ...source.inputs]
      assert.equal(read.length, 1, JSON.stringify(whole))
    }
  })

  it('returns the default for an invalid value', () => {
    assert.equal(readSettingValue('initializeTimeout', '5'), 30)
    assert.equal(readSettingValue('initializeTimeout', 5), 5)
    assert.equal(readSettingValue('workingDirectory', 'elsewhere'), 'activeEditor')
    assert.equal(readSettingValue('agentRegistry', null), SETTINGS.agentRegistry.default)
    assert.ok(!isSettingName('toString'))
  })

  it('has machine scope only for settings that start programs or allow them to run', () => {
    assert.deepEqual(
      SETTING_NAMES.filter(name => SETTINGS[name].scope === 'machine-overridable'),
      ['agents', 'mcpServers', 'permissionRules', 'worktrees.setupCommand'],
    )
    // packages of the registry run, so a workspace must not set its URL
    assert.equal(SETTINGS.agentRegistry.scope, 'application')
    // what was chosen last may let agents act without asking, so a workspace must not turn it on
    assert.equal(SETTINGS.useLastOptions.scope, 'application')
    // nor run direnv and mise for a user who doesn't want that
    assert.equal(SETTINGS.projectEnvironment.scope, 'application')
  })

  it('restricts settings that start programs, instruct agents or give them tools in Restricted Mode', () => {
    assert.deepEqual(capabilities.untrustedWorkspaces.restrictedConfigurations.toSorted(), [
      'parley.agents',
      'parley.defaultAgent',
      'parley.editorTools',
      'parley.mcpServers',
      'parley.permissionRules',
      'parley.systemPrompt',
      'parley.workingDirectory',
      'parley.worktrees.setupCommand',
    ])
  })

  it('is the only place that reads settings', () => {
    const source = join(projectDirectory, 'src')
    const readers = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter(file => /\.tsx?$/.test(file))
      .filter(file => /getConfiguration\((SECTION|'parley)/.test(readFileSync(join(source, file), 'utf8')))
    // it runs at startup, when nothing may load zod, as the table of settings does
    const atStartup = join('workbench', 'comments', 'comment-controller.ts')
    assert.deepEqual(readers.sort(), [atStartup, join('workbench', 'settings.ts')])
  })
})
