import assert from 'node:assert/strict'
import type { InstallPlan, InstallScript } from '../../../src/agents/registry/install-plan.ts'
import { readRegistry } from '../../../src/agents/registry/registry-format.ts'
import { installConfirmation } from '../../../src/app/agents/install-confirmation.ts'

describe('the confirmation of an installation', () => {
  let answer: string | undefined
  let shown: string[]
  const agent = readRegistry({
    agents: [{ id: 'mine', name: 'Mine', version: '1.0.0', distribution: { npx: { package: 'mine' } } }],
  }).agents[0]!
  const asking = installConfirmation({
    confirm: async (text, { detail = '' }, ...buttons) => {
      shown = [text, detail, ...buttons]
      return answer
    },
  })
  beforeEach(() => {
    answer = undefined
  })
  const planDetails = async (plan: InstallPlan, replaced?: string) => {
    await asking.plan(agent, plan, replaced)
    return shown[1]!
  }
  const scriptsDetails = async (scripts: InstallScript[]) => {
    await asking.scripts(agent, scripts)
    return shown[1]!.split('\n\n')[1]!
  }
  const npm: InstallPlan = {
    distribution: 'npx',
    version: '1.0.0',
    action: 'npm install --ignore-scripts mine@1.0.0',
    args: [],
    env: {},
  }

  it('shows the command, the arguments and the environment, and says that packages have scripts', async () => {
    const plan = { ...npm, args: ['--acp', 'two words'], env: { MODE: 'fast', EMPTY: '' } }
    assert.deepEqual((await planDetails(plan, '0.9.0')).split('\n'), [
      'Runs: npm install --ignore-scripts mine@1.0.0',
      'Arguments: --acp "two words"',
      'Environment: MODE=fast EMPTY=""',
      'Replaces: version 0.9.0',
      'npm packages can run scripts when they are installed. Parley asks before any of them runs.',
    ])
  })

  it('shows the URL, the checksum and the program of an archive', async () => {
    const plan: InstallPlan = {
      ...{ distribution: 'binary', version: '1.0.0', args: [], env: {} },
      ...{ action: 'https://example.com/a.zip', program: './run' },
    }
    assert.deepEqual((await planDetails(plan)).split('\n'), [
      'Downloads: https://example.com/a.zip',
      "Checksum: none. The download can't be verified.",
      'Program: ./run',
    ])
    assert.match(await planDetails({ ...plan, sha256: 'ab' }), /^SHA-256 checksum: ab$/m)
  })

  it("can't be disguised by line breaks and invisible characters", async () => {
    const plan = { ...npm, args: ['a\nArguments: none', '\u202egpj.exe', 'x\u2028y'] }
    const text = await planDetails(plan)
    assert.equal(text.split('\n').length, 3)
    assert.doesNotMatch(text, /[\u202e\u2028]/)
    const script = { package: 'mine@1.0.0', event: 'install', command: 'x\n\u202ey' } as const
    assert.equal(await scriptsDetails([script]), 'mine@1.0.0 (install): x\\n‹U+202E›y')
    const other = { ...script, package: 'a@1\nb@1', command: `node build.js ${'#'.repeat(5000)} && rm` }
    const line = await scriptsDetails([other])
    assert.ok(line.startsWith('a@1\\nb@1 (install): node build.js #'))
    assert.ok(line.endsWith('#…'))
  })

  it('names the first scripts and the number of the others', async () => {
    const scripts = Array.from({ length: 20 }, (_, at) => ({
      ...{ package: `p${at}@1.0.0`, event: 'postinstall' as const, command: 'node build.js' },
    }))
    const lines = (await scriptsDetails(scripts)).split('\n')
    assert.equal(lines[0], 'p0@1.0.0 (postinstall): node build.js')
    assert.match(lines.at(-1)!, /8 more/)
  })

  it('installs only after Run Install, and runs scripts only after Run Scripts', async () => {
    assert.equal(await asking.plan(agent, npm, undefined), false)
    assert.deepEqual([shown[0], shown[2]], ['Install Mine 1.0.0?', 'Run Install'])
    answer = 'Run Install'
    assert.equal(await asking.plan(agent, npm, '0.9.0'), true)
    assert.equal(shown[0], 'Update Mine to 1.0.0?')
    const answers = { 'Run Scripts': 'run', 'Skip Scripts': 'skip' }
    for (const [button, meaning] of Object.entries(answers)) {
      answer = button
      assert.equal(await asking.scripts(agent, []), meaning)
    }
    assert.deepEqual(shown.slice(2), Object.keys(answers))
    answer = undefined
    assert.equal(await asking.scripts(agent, []), 'cancel')
  })
})
