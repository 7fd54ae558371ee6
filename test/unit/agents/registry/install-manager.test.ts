import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InstallError, type InstallOptions } from '../../../../src/agents/registry/agent-installer.ts'
import { InstallManager, type InstallQuestion } from '../../../../src/agents/registry/install-manager.ts'
import type { InstallPlan } from '../../../../src/agents/registry/install-plan.ts'
import { InstalledAgents } from '../../../../src/agents/registry/installed-agents.ts'
import { RegistryError, type RegistrySnapshot } from '../../../../src/agents/registry/registry-client.ts'
import { type RegistryAgent, readRegistry } from '../../../../src/agents/registry/registry-format.ts'
import { deferred } from '../../../../src/common/async.ts'
import { CancelledError } from '../../../../src/common/errors.ts'
import { Emitter } from '../../../../src/common/event.ts'
import { waitFor } from '../../../host/wait-for.ts'
import { processWindow } from '../../../support/process-windows.ts'

const log = { error() {}, warn() {}, info() {}, debug() {}, trace() {} }

describe('InstallManager', () => {
  let directory: string
  let installed: InstalledAgents
  let known: RegistrySnapshot
  let fetched: () => Promise<RegistrySnapshot>
  let fetches: number
  let trusted: boolean
  let isOn: boolean
  let missing: InstallPlan['missing']
  let args: string[]
  let install: (agent: RegistryAgent, options: InstallOptions) => Promise<void>
  /** what the user was asked to confirm */
  let asked: InstallPlan[]
  let answer: (plan: InstallPlan) => Promise<boolean>
  let loads: number
  let drawn: string[]
  const iconChange = new Emitter<void>()
  const networkChange = new Emitter<void>()
  let installs: InstallManager
  let isInstallerGone: boolean

  const snapshot = (version: string, npmPackage = `@example/mine@${version}`): RegistrySnapshot => {
    const distribution = { npx: { package: npmPackage } }
    const mine = { id: 'mine', name: 'Mine', version, description: 'An agent', distribution }
    return { agents: readRegistry({ agents: [mine] }).agents, source: 'network' }
  }
  /** What the real installer leaves on disk. */
  const commit = async ({ id, name, version, description }: RegistryAgent) => {
    const folder = await installed.newFolder(id, version)
    await writeFile(join(folder, 'run'), '')
    await installed.commit(folder, {
      ...{ format: 1, id, name, version, description, distribution: 'npx', source: id, installedAt: 1 },
      launch: { type: 'program', path: 'run', args: [], env: {} },
    })
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parley-installs-'))
    installed = new InstalledAgents(directory, processWindow(), log)
    known = snapshot('1.0.0')
    fetched = async () => snapshot('1.0.0')
    fetches = 0
    loads = 0
    isInstallerGone = false
    drawn = []
    asked = []
    answer = async () => true
    trusted = true
    isOn = true
    missing = undefined
    args = []
    install = commit
    installs = new InstallManager({
      registry: {
        get isOn() {
          return isOn
        },
        known: async () => known,
        refresh: () => {
          fetches += 1
          return fetched()
        },
      },
      onDidChangeNetwork: networkChange.event,
      installed,
      icons: {
        get: id => (drawn.includes(id) ? `data:${id}` : undefined),
        load: async () => {},
        refresh: async agents => {
          drawn = agents.map(({ id }) => id)
          iconChange.fire()
        },
        onDidChange: iconChange.event,
      },
      installer: async () => {
        loads += 1
        if (isInstallerGone) throw new Error('no such module')
        return {
          plan: async ({ version, distributions: [one] }): Promise<InstallPlan> => {
            assert.equal(one?.type, 'npx')
            const action = `npm install ${one.package}`
            return { distribution: 'npx', version, action, args, env: one.env, ...(missing && { missing }) }
          },
          install: (agent, plan, options = {}) => {
            assert.deepEqual(plan, asked.at(-1))
            return install(agent, options)
          },
        }
      },
      confirmation: {
        plan: (_agent, plan) => {
          asked.push(plan)
          return answer(plan)
        },
        scripts: async () => 'skip',
      },
      trusted: () => trusted,
      log,
    })
  })
  afterEach(async () => {
    installs.dispose()
    installed.dispose()
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  })

  const stated = 'npm install @example/mine@1.0.0'

  it('downloads nothing and loads no installer until the user looks for agents or installs one', async () => {
    await installs.load()
    assert.deepEqual([installs.find('mine')?.version, fetches, loads], ['1.0.0', 0, 0])
    await installs.plan(['mine'])
    assert.equal((installs.planOf('mine') as InstallPlan).action, stated)
    assert.equal(fetches, 0)
    await installs.refresh()
    assert.equal(fetches, 1)
  })

  it("reads the registry again by itself if it couldn't, once the settings of the network change", async () => {
    fetched = () => Promise.reject(new RegistryError('unreachable'))
    await installs.refresh()
    assert.equal(installs.problem, 'unreachable')
    fetched = async () => snapshot('2.0.0')
    networkChange.fire()
    await waitFor('what the registry has', () => installs.planOf('mine') !== undefined)
    assert.deepEqual([installs.find('mine')?.version, installs.problem, fetches], ['2.0.0', undefined, 2])

    // what was read stays
    networkChange.fire()
    await installs.refresh()
    assert.equal(fetches, 3)
  })

  it('says why nothing can be planned, as after an update of the extension, also if nobody waits for the plan', async () => {
    fetched = () => Promise.reject(new RegistryError('unreachable'))
    await installs.refresh()
    isInstallerGone = true
    fetched = async () => snapshot('2.0.0')
    networkChange.fire()
    await waitFor('the installer', () => loads > 0)
    await new Promise(setImmediate)
    const plan = installs.planOf('mine')
    assert.ok(plan instanceof Error && plan.message === 'no such module')
    assert.deepEqual([installs.find('mine')?.version, installs.problem], ['2.0.0', undefined])
  })

  it('reads the registry again, too, if the settings of the network change meanwhile', async () => {
    const first = deferred<RegistrySnapshot>()
    fetched = () => first.promise
    const refresh = installs.refresh()
    await waitFor('the request', () => fetches === 1)
    networkChange.fire()
    fetched = async () => snapshot('2.0.0')
    first.reject(new RegistryError('unreachable'))
    await refresh
    assert.deepEqual([installs.find('mine')?.version, installs.problem, fetches], ['2.0.0', undefined, 2])
  })

  it("shows an agent's codicon until the registry's icon is fetched", async () => {
    await installs.load()
    assert.deepEqual([installs.iconOf('mine'), installs.iconOf('github-copilot-cli')], ['sparkle', 'copilot'])
    let changes = 0
    installs.onDidChange(() => changes++)
    await installs.refresh()
    assert.equal(installs.iconOf('mine'), 'data:mine')
    assert.ok(changes > 1)
    fetched = () => Promise.reject(new Error('offline'))
    drawn = []
    await installs.refresh()
    assert.deepEqual(drawn, [], 'icons were fetched though the registry was not read')
  })

  it('shows the newest version, and installs it once the user confirmed', async () => {
    fetched = async () => snapshot('1.1.0')
    install = async agent => {
      assert.equal(asked.length, 1)
      await commit(agent)
    }
    assert.equal(await installs.install('mine'), 'installed')
    assert.deepEqual(
      asked.map(({ action }) => action),
      ['npm install @example/mine@1.1.0'],
    )
    assert.equal(installs.installed[0]?.version, '1.1.0')
    assert.equal(installs.status('mine'), undefined)
  })

  it("keeps the computed commands while the registry doesn't change", async () => {
    await installs.refresh()
    await installs.plan(['mine'])
    await installs.refresh()
    const plan = installs.planOf('mine')
    assert.ok(plan && !(plan instanceof Error))
    assert.equal(plan.action, stated)
    fetched = async () => snapshot('2.0.0')
    await installs.refresh()
    assert.equal(installs.planOf('mine'), undefined)
  })

  it("installs nothing if the user doesn't confirm, or cancels meanwhile", async () => {
    install = () => assert.fail('It was installed')
    answer = async () => false
    assert.equal(await installs.install('mine'), 'canceled')
    assert.equal(installs.status('mine'), undefined)
    answer = () => {
      installs.cancel('mine')
      return new Promise(() => {})
    }
    assert.equal(await installs.install('mine'), 'canceled')
    assert.equal(asked.length, 2)
  })

  it('asks where the agent is listed, and installs it after the answer', async () => {
    const question = () =>
      new Promise<InstallQuestion>(resolve => {
        const following = installs.onDidChange(() => {
          const status = installs.status('mine')
          if (status?.state !== 'asking') return
          following.dispose()
          resolve(status)
        })
      })
    answer = () => assert.fail('A dialog asked')
    let done = installs.install('mine', { inPlace: true })
    const canceled = await question()
    assert.equal(canceled.plan.action, stated)
    installs.cancel('mine')
    assert.equal(await done, 'canceled')
    assert.equal(installs.status('mine'), undefined)
    installs.confirm('mine', canceled.id)
    assert.deepEqual(installs.installed, [])

    done = installs.install('mine', { inPlace: true })
    const { id, plan } = await question()
    asked = [plan]
    installs.confirm('mine', canceled.id)
    assert.equal(installs.status('mine')?.state, 'asking', 'an old question was confirmed')
    installs.confirm('mine', id)
    assert.equal(await done, 'installed')
  })

  it('asks again if what would be installed changed after the user confirmed it', async () => {
    install = async agent => {
      if (asked.length === 1) throw new InstallError('changed', 'It changed.')
      await commit(agent)
    }
    // the same plan isn't asked about twice
    answer = async () => {
      args = ['--more']
      return true
    }
    assert.equal(await installs.install('mine'), 'installed')
    assert.equal(asked.length, 2)
  })

  it('asks again on a retry only if something changed', async () => {
    install = async () => {
      throw new InstallError('failed', 'It failed.')
    }
    assert.equal(await installs.install('mine'), 'failed')
    assert.equal(await installs.install('mine'), 'failed')
    assert.equal(asked.length, 1)
    fetched = async () => snapshot('1.0.0', '@other/mine@1.0.0')
    assert.equal(await installs.install('mine'), 'failed')
    assert.equal(asked.length, 2)
    installs.dismiss('mine')
    assert.equal(await installs.install('mine'), 'failed')
    assert.equal(asked.length, 3)
  })

  it('shows each step, and shares one installation between callers', async () => {
    const steps: string[] = []
    installs.onDidChange(() => {
      const status = installs.status('mine')
      if (status?.state === 'running') steps.push(`${status.step} ${status.share ?? ''}`)
    })
    let count = 0
    install = async (agent, { onProgress }) => {
      count += 1
      onProgress?.({ step: 'Downloading…', share: 0.5 })
      await commit(agent)
    }
    const both = [installs.install('mine'), installs.install('mine')]
    assert.deepEqual(await Promise.all(both), ['installed', 'installed'])
    assert.equal(count, 1)
    assert.ok(steps.includes('Downloading… 0.5'), steps.join('\n'))
  })

  it('shows the error, the last output and the next step of a failed installation until a retry', async () => {
    const retries: unknown[] = []
    install = async (_agent, options) => {
      retries.push(options?.isRetry)
      throw new InstallError('node-too-old', 'Mine needs Node.js 99.', 'npm error code EBADENGINE')
    }
    assert.equal(await installs.install('mine'), 'failed')
    assert.deepEqual(installs.status('mine'), {
      state: 'failed',
      message: 'Mine needs Node.js 99.',
      output: 'npm error code EBADENGINE',
      help: 'https://nodejs.org/en/download',
    })
    install = async (agent, options) => {
      retries.push(options?.isRetry)
      await commit(agent)
    }
    assert.equal(await installs.install('mine'), 'installed')
    assert.equal(installs.status('mine'), undefined)
    assert.deepEqual(retries, [false, true])
  })

  for (const [program, help] of [
    ['npm', 'https://nodejs.org/en/download'],
    ['uv', 'https://docs.astral.sh/uv/getting-started/installation/'],
  ] as const)
    it(`links to the download of ${program} if it's missing`, async () => {
      missing = program
      install = async () => {
        throw new InstallError('missing-program', `${program} is needed.`)
      }
      assert.equal(await installs.install('mine'), 'failed')
      const status = installs.status('mine')
      assert.deepEqual(status, { state: 'failed', message: `${program} is needed.`, output: '', help })
    })

  it('stops a canceled installation without an error', async () => {
    let begun = () => {}
    const started = new Promise<void>(resolve => {
      begun = resolve
    })
    install = (_agent, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new CancelledError()))
        begun()
      })
    const outcome = installs.install('mine')
    await started
    installs.cancel('mine')
    assert.equal(await outcome, 'canceled')
    assert.equal(installs.status('mine'), undefined)
  })

  it('can be canceled while the registry is read', async () => {
    let begun = () => {}
    const started = new Promise<void>(resolve => {
      begun = resolve
    })
    fetched = () => {
      begun()
      return new Promise(() => {})
    }
    const outcome = installs.install('mine')
    await started
    installs.cancel('mine')
    assert.equal(await outcome, 'canceled')
    assert.equal(installs.status('mine'), undefined)
    fetched = async () => snapshot('1.0.0')
    assert.equal(await installs.install('mine'), 'installed')
  })

  it("installs from cached data if the registry can't be reached, and reports it", async () => {
    fetched = async () => {
      throw new RegistryError("The agent registry can't be reached: offline")
    }
    assert.equal(await installs.install('mine'), 'installed')
    assert.match(installs.problem ?? '', /can't be reached/)
    assert.equal(await installs.install('other'), 'failed')
    const status = installs.status('other')
    assert.match(status?.state === 'failed' ? status.message : '', /can't be reached/)
  })

  it('offers nothing if the registry is disabled', async () => {
    await installs.refresh()
    assert.notDeepEqual(installs.agents, [])
    isOn = false
    assert.deepEqual([installs.agents, installs.find('mine')], [[], undefined])
  })

  it('installs nothing in Restricted Mode', async () => {
    trusted = false
    await assert.rejects(installs.install('mine'), /Restricted Mode/)
    await installs.plan(['mine'])
    assert.deepEqual([fetches, loads], [0, 0])
  })

  it('offers the update of an installed agent, and uninstalls it', async () => {
    await installs.install('mine')
    const [agent] = installs.installed
    assert.ok(agent)
    assert.equal(installs.updateOf(agent), undefined)
    fetched = async () => snapshot('2.0.0')
    await installs.refresh()
    assert.equal(installs.updateOf(agent)?.version, '2.0.0')
    await installs.remove('mine')
    assert.deepEqual(installs.installed, [])
  })

  for (const [installedVersion, listed, isNewer] of [
    ['1.9.0', '1.10.0', true],
    ['1.10.0', '1.9.0', false],
    ['2.0.0', '2.0.0-beta.1', false],
    ['2.0.0', '2.0.0', false],
    ['2025.11.3.1', '2025.11.10.1', true],
    ['2025.11.10.1', '2025.11.3.1', false],
  ] as const)
    it(`offers version ${listed} ${isNewer ? 'as an update of' : 'not as an update of'} ${installedVersion}`, async () => {
      fetched = async () => snapshot(installedVersion, '@example/mine@1.0.0')
      await installs.install('mine')
      fetched = async () => snapshot(listed, '@example/mine@1.0.0')
      await installs.refresh()
      assert.equal(installs.updateOf(installs.installed[0]!)?.version, isNewer ? listed : undefined)
    })

  it('calls a well-known agent by the same name everywhere, whatever the registry calls it', async () => {
    const about = { id: 'claude-acp', name: 'Claude Agent', version: '1.0.0' }
    const listed = { ...about, distribution: { npx: { package: '@example/claude' } } }
    fetched = async () => ({ agents: readRegistry({ agents: [listed] }).agents, source: 'network' })
    let confirmed: string | undefined
    install = async agent => {
      confirmed = agent.name
      await commit(agent)
    }
    assert.equal(await installs.install('claude-acp'), 'installed')
    const names = [installs.find('claude-acp'), installs.installed[0]].map(agent => agent?.name)
    assert.deepEqual([...names, confirmed], ['Claude Code', 'Claude Code', 'Claude Code'])
  })

  it('offers well-known agents by their ids in the registry', () => {
    assert.deepEqual(
      installs.featured().map(({ id, preset }) => [id, preset.name]),
      [
        ['claude-acp', 'Claude Code'],
        ['codex-acp', 'Codex'],
        ['gemini', 'Gemini CLI'],
        ['github-copilot-cli', 'GitHub Copilot CLI'],
        ['opencode', 'OpenCode'],
      ],
    )
  })
})
