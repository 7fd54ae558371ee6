import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testDirectory } from '../host/paths.ts'
import { findProgram } from '../host/system-packages.ts'
import { PageSuite } from '../support/page/page-suite.ts'
import { ConversationPage } from '../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent } from '../ui/support/fixture-agent.ts'

describe("the environment of the session's project", () => {
  // Debian's package `direnv`
  const direnv = findProgram(['direnv'])
  before(function () {
    if (!direnv) this.skip()
  })
  const vscode = new PageSuite({
    settings: root => {
      const { command, args, env } = fixtureAgent(root, 'Planets')
      // only in the project
      const program = { name: 'Planets', command: 'planet-agent', env: { ...env, MOON: 'own' } }
      writeFileSync(
        join(root.home, 'planet-agent'),
        `#!/bin/sh\nexec '${command}' '${args!.join("' '")}'\n`,
        {
          mode: 0o755,
        },
      )
      return { 'parley.agents': { planets: program } }
    },
  })
  const folder = () => join(dirname(vscode.workspace), 'planets-api')
  const write = (planet: string) => {
    mkdirSync(join(folder(), 'bin'), { recursive: true })
    writeFileSync(
      join(folder(), '.envrc'),
      `export PLANET=${planet} MOON=phobos TOKEN=swordfish\nPATH_add ${vscode.root.home}\n`,
    )
  }
  const allow = () =>
    execFileSync(direnv!, ['allow'], { cwd: folder(), env: vscode.root.environment(), stdio: 'pipe' })

  it("doesn't delay the search for agents, which finds those on its PATH once the environment is known", async () => {
    const end = join(vscode.root.home, 'known')
    const bin = join(vscode.root.home, 'late')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'copilot'), '#!/bin/sh\n', { mode: 0o755 })
    mkdirSync(folder(), { recursive: true })
    const text = `until test -e '${end}'; do sleep 0.1; done; PATH_add '${bin}'`
    writeFileSync(join(folder(), '.envrc'), text)
    allow()
    vscode.root.updateSettings({ 'parley.defaultAgent': 'copilot' })
    const workbench = await vscode.open()
    const conversation = await ConversationPage.open(workbench)
    const card = conversation.frame.locator('.card', { hasText: 'GitHub Copilot' })
    await card.waitFor()
    writeFileSync(end, '')
    await card.waitFor({ state: 'detached' })
    await conversation.frame.getByText('GitHub Copilot CLI', { exact: true }).waitFor()
    vscode.root.updateSettings({ 'parley.defaultAgent': undefined })
  })

  it('names a slow tool while a session waits for it', async () => {
    const end = join(vscode.root.home, 'loaded')
    const workbench = await vscode.open()
    // the search for agents, which waits for it too, is over
    const conversation = await ConversationPage.startSession(workbench, 'Demo Agent')
    write('mars')
    appendFileSync(join(folder(), '.envrc'), `until test -e '${end}'; do sleep 0.1; done\n`)
    allow()
    const starting = ConversationPage.startSession(workbench, 'Planets')
    await conversation.frame.getByText('Loading the environment of direnv…').waitFor()
    writeFileSync(end, '')
    await starting
    await conversation.runTurn('[[env PLANET]]')
    await conversation.agentMessage('PLANET=mars').waitFor()
  })

  it('is what the user allowed, by name in the details, and offers to restart the agent after a change', async () => {
    write('mars')
    allow()
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Planets')
    await conversation.runTurn(
      '[[env PLANET]] [[env MOON]] [[run test $PLANET-$MOON = mars-phobos && exit 7]]',
    )
    await conversation.agentMessage('PLANET=mars').waitFor()
    await conversation.agentMessage('MOON=own').waitFor()
    await conversation.agentMessage('exit 7').waitFor()

    const details = await conversation.openDetails()
    await details.getByText('MOON, PATH, PLANET, TOKEN').waitFor()
    assert.doesNotMatch((await details.textContent()) ?? '', /swordfish|mars/)
    await workbench.page.keyboard.press('Escape')

    write('venus')
    const card = conversation.card("The project's environment may have changed")
    await card.waitFor()
    const notice = conversation.frame.locator('.row-notice', { hasText: 'To use .envrc, review it' })
    assert.equal(await notice.count(), 0)
    await conversation.runTurn('[[run test -z "$PLANET" && exit 8]]')
    await conversation.agentMessage('exit 8').waitFor()
    await notice.waitFor()
    await card.waitFor({ state: 'detached' })
    allow()
    await card.waitFor()
    const end = join(vscode.root.home, 'end')
    await conversation.send(`[[run until test -e '${end}'; do sleep 0.1; done; exit 9]]`)
    await conversation.frame.getByText('until test -e').last().waitFor()
    await card.getByRole('button', { name: 'Restart Agent' }).click()
    await card.waitFor({ state: 'detached' })
    writeFileSync(end, '')
    await conversation.agentMessage('exit 9').waitFor()
    await conversation.runTurn('[[env PLANET]]')
    await conversation.agentMessage('PLANET=venus').waitFor()
  })

  it('is where the commands of MCP servers are found, and what their variables stand for', async () => {
    const program = join(vscode.root.home, 'planet-server')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    write('mars')
    allow()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables in settings have this syntax
    const server = { command: 'planet-server', env: { WHERE: '${env:PLANET}' } }
    vscode.root.updateSettings({ 'parley.mcpServers': { planets: server } })
    await ConversationPage.startSession(await vscode.open(), 'Planets')
    const started = agentLog(vscode.root, 'Planets').findLast(
      ({ received }) => received?.method === 'session/new',
    )
    const [passed] = (started!.received!.params as { mcpServers: Array<{ command: string; env: unknown }> })
      .mcpServers
    assert.deepEqual(passed?.command, program)
    assert.deepEqual(passed?.env, [{ name: 'WHERE', value: 'mars' }])
    vscode.root.updateSettings({ 'parley.mcpServers': undefined })
  })

  it("isn't used without that, which is said once", async () => {
    vscode.root.updateSettings({
      'parley.agents': { planets: { ...fixtureAgent(vscode.root, 'Planets') } },
    })
    // what was allowed once is allowed again
    write('pluto')
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Planets')
    const notice = conversation.frame.locator('.row-notice', {
      hasText: "The environment of direnv isn't used",
    })
    await notice.waitFor()
    await conversation.runTurn('[[env PLANET]] [[say none]]')
    await conversation.agentMessage('PLANET=none').waitFor()
    const details = await conversation.openDetails()
    assert.equal(await details.getByText('Environment', { exact: true }).count(), 0)
    await workbench.page.keyboard.press('Escape')
    await ConversationPage.startSession(workbench, 'Planets')
    await conversation.runTurn('[[say second]]')
    await conversation.agentMessage('second').waitFor()
    assert.equal(await notice.count(), 0)
  })
})

describe('the Python environment that the user selected', () => {
  const vscode = new PageSuite({
    settings: root => ({ 'parley.agents': { planets: fixtureAgent(root, 'Planets') } }),
  })
  const folder = () => join(dirname(vscode.workspace), 'planets-api')
  const extension = () => join(vscode.root.extensions, 'ms-python.python')
  const select = (name: string) => {
    const environment = join(folder(), name)
    mkdirSync(join(environment, 'bin'), { recursive: true })
    writeFileSync(join(environment, 'pyvenv.cfg'), '')
    // all that a program of the environment must be is found
    writeFileSync(join(environment, 'bin/which-one'), `#!/bin/sh\necho ${name}-first\n`, { mode: 0o755 })
    // whole at once, since the extension watches it
    writeFileSync(join(extension(), 'next'), join(environment, 'bin/python'))
    renameSync(join(extension(), 'next'), join(extension(), 'selected'))
    return environment
  }

  it("doesn't matter in a folder without a Python project, for which the Python extension isn't started", async () => {
    cpSync(join(testDirectory, 'fixtures/python-extension'), extension(), { recursive: true })
    select('venv-one')
    const conversation = await ConversationPage.startSession(await vscode.open(), 'Planets')
    await conversation.runTurn('[[env VIRTUAL_ENV]] [[say none]]')
    await conversation.agentMessage('VIRTUAL_ENV=none').waitFor()
  })

  it('is that of agents and commands in a Python project, and another one offers to restart the agent', async () => {
    cpSync(join(testDirectory, 'fixtures/python-extension'), extension(), { recursive: true })
    writeFileSync(join(folder(), 'requirements.txt'), '')
    const first = select('venv-one')
    const workbench = await vscode.open()
    const conversation = await ConversationPage.startSession(workbench, 'Planets')
    await conversation.runTurn('[[env VIRTUAL_ENV]] [[run test $(which-one) = venv-one-first && exit 7]]')
    await conversation.agentMessage(`VIRTUAL_ENV=${first}`).waitFor()
    await conversation.agentMessage('exit 7').waitFor()
    const details = await conversation.openDetails()
    await details.locator('.details-row', { hasText: 'Python' }).getByText('PATH, VIRTUAL_ENV').waitFor()
    await workbench.page.keyboard.press('Escape')

    const second = select('venv-two')
    const card = conversation.card("The project's environment may have changed")
    await card.getByRole('button', { name: 'Restart Agent' }).click()
    await card.waitFor({ state: 'detached' })
    await conversation.runTurn('[[env VIRTUAL_ENV]]')
    await conversation.agentMessage(`VIRTUAL_ENV=${second}`).waitFor()
  })
})
