import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Agent,
  type AgentClient,
  AgentStartError,
  type ConnectOptions,
} from '../../../../src/acp/agent.ts'
import type { RunningProcess } from '../../../../src/acp/transport/running-process.ts'
import { InstalledAgents, startInstalled } from '../../../../src/agents/registry/installed-agents.ts'
import { silentLogger } from '../../../../src/common/logger.ts'
import { waitFor } from '../../../host/wait-for.ts'
import { processWindow } from '../../../support/process-windows.ts'

describe('starting an installed agent', () => {
  let storage: string
  let installed: InstalledAgents
  beforeEach(async () => {
    storage = await mkdtemp(join(tmpdir(), 'parley-installed-'))
    installed = new InstalledAgents(storage, processWindow(), silentLogger)
  })
  afterEach(async () => {
    installed.dispose()
    await rm(storage, { recursive: true, maxRetries: 5 })
  })

  const install = (version: string) =>
    installed.exclusively('mine', async () => {
      const folder = await installed.newFolder('mine', version)
      await writeFile(join(folder, 'run'), version)
      await installed.commit(folder, {
        ...{
          format: 1,
          id: 'mine',
          name: 'Mine',
          version,
          description: '',
          distribution: 'npx',
          source: 'mine',
        },
        launch: { type: 'program', path: 'run', args: [], env: {} },
        installedAt: 0,
      })
    })
  const launch = () => ({
    command: join(installed.agents[0]!.directory, 'run'),
    args: [],
    env: {},
    cwd: storage,
  })
  /** Starts an agent as the test defines; returns a function that closes it. */
  const start = async (fails?: Error) => {
    let close = () => {}
    const agent = {
      onDidClose: (listener: () => void) => {
        close = listener
        return { dispose() {} }
      },
    } as unknown as Agent
    const starter = startInstalled(
      async () => {
        if (fails) throw fails
        return agent
      },
      installed,
      silentLogger,
    )
    await starter(launch(), {} as AgentClient, {} as ConnectOptions)
    return () => close()
  }
  const failure = (kind: 'version' | 'cancelled') =>
    new AgentStartError(
      kind === 'version' ? { kind, command: 'run', offered: 1, supported: [] } : { kind },
      'It failed.',
    )

  it("keeps its folder while the agent runs, even if it's updated or uninstalled", async () => {
    await install('1')
    const { directory } = installed.agents[0]!
    const close = await start()
    await waitFor('a mark of use', async () => (await readdir(directory)).includes('in-use'))
    await install('2')
    assert.equal((await readdir(join(storage, 'mine'))).length, 3)
    await installed.remove('mine')
    assert.deepEqual(await readdir(join(storage, 'mine')), [directory.split('/').at(-1)])
    close()
    await waitFor('the end of the folder', async () => !(await readdir(storage)).includes('mine'))
  })

  it('keeps its folder while the agent goes on without its window', async () => {
    await install('1')
    const { directory } = installed.agents[0]!
    const agent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    try {
      const starter = startInstalled(
        async (_launch, _client, { startProcess }) => {
          await startProcess?.(launch(), {} as Parameters<typeof startProcess>[1])
          return { onDidClose() {} } as unknown as Agent
        },
        installed,
        silentLogger,
      )
      const startProcess = async () => ({ pid: agent.pid }) as RunningProcess
      await starter(launch(), {} as AgentClient, { startProcess } as unknown as ConnectOptions)
      await waitFor('both marks', async () => (await readdir(join(directory, 'in-use'))).length === 2)
      installed.dispose()
      await waitFor('the end of one', async () => (await readdir(join(directory, 'in-use'))).length === 1)
      installed = new InstalledAgents(storage, processWindow(), silentLogger)
      await installed.read()
      await installed.remove('mine')
      assert.ok((await readdir(directory)).includes('run'))
    } finally {
      agent.kill('SIGKILL')
      await once(agent, 'exit')
    }
    await installed.cleanUp()
    assert.deepEqual(await readdir(storage), [])
  })

  it("restores the previous version if an update doesn't start, and reports it", async () => {
    await install('1')
    await start()
    await waitFor('the first start', async () => !installed.agents[0]!.canRollBack)
    await install('2')
    await assert.rejects(start(failure('version')), (error: unknown) => {
      assert.ok(error instanceof AgentStartError)
      assert.match(error.message, /Mine 2 .* version 1 .* It failed\./)
      return true
    })
    assert.equal(installed.agents[0]?.version, '1')
    await assert.rejects(start(failure('version')), { message: 'It failed.' })
  })

  it("doesn't restore the previous version if the user cancels the start", async () => {
    await install('1')
    await start()
    await install('2')
    await assert.rejects(start(failure('cancelled')), { message: 'It failed.' })
    assert.equal(installed.agents[0]?.version, '2')
  })
})
