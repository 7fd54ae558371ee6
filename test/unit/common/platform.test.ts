/** What depends on the system, for all three of them. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { newSocketPath, removeSocket } from '../../../src/acp/transport/host/endpoint.ts'
import { Checkout } from '../../../src/changes/detect/repository-files.ts'
import { modeOf } from '../../../src/changes/model/file-state.ts'
import { decodeFileName, isWithin, onDisk } from '../../../src/common/file-names.ts'
import {
  canTakeOverPorts,
  foldsCase,
  hasFileModes,
  hasProcessGroups,
  opensFolders,
  selectsFilesAndFolders,
} from '../../../src/common/platform.ts'
import { askSystemEncoding } from '../../../src/common/processes/decode-output.ts'
import { memoryOfTrees } from '../../../src/common/processes/process-memory.ts'
import {
  commandLineOf,
  listProcesses,
  processesWith,
  type RunTool,
} from '../../../src/common/processes/process-system.ts'
import { explainSpawnError } from '../../../src/common/processes/spawn-process.ts'
import { listingLine, shellLine } from '../../../src/demo-agent/scenes/run.ts'
import { unclearWord } from '../../../src/sessions/permission-rules/command-effects.ts'
import { pathOnDisk } from '../../../src/workbench/path-on-disk.ts'

const PLATFORMS = ['win32', 'darwin', 'linux'] as const
const onEach = <T>(ask: (platform: NodeJS.Platform) => T) => PLATFORMS.map(ask)

describe('on Windows, macOS and Linux', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'parley-platform-'))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  it('names of files differ in their case, and files have modes', () => {
    assert.deepEqual(onEach(foldsCase), [true, true, false])
    assert.deepEqual(onEach(hasFileModes), [false, true, true])
    assert.deepEqual(
      onEach(platform => modeOf({ mode: 0o100755 }, platform)),
      [0o666, 0o755, 0o755],
    )
  })

  it('a path of the editor has the drive that agents write', () => {
    assert.deepEqual(
      onEach(platform => pathOnDisk({ fsPath: 'c:\\Dir\\a' }, platform)),
      ['C:\\Dir\\a', 'c:\\Dir\\a', 'c:\\Dir\\a'],
    )
    assert.equal(pathOnDisk({ fsPath: '\\\\server\\share\\a' }, 'win32'), '\\\\server\\share\\a')
  })

  it('a command that was not found is a path, or was searched for', () => {
    const searched = (command: string, PATH: string) =>
      onEach(platform => {
        const request = { command, args: [], cwd: directory, env: { PATH } }
        const error = Object.assign(new Error('spawn'), { code: 'ENOENT' })
        const { kind, searched } = explainSpawnError(error, request, platform)
        assert.equal(kind, 'command-missing')
        return searched
      })
    const windows = 'C:\\bin;D:\\tools'
    assert.deepEqual(searched('agent', windows), [
      ['C:\\bin', 'D:\\tools'],
      ['C', '\\bin;D', '\\tools'],
      ['C', '\\bin;D', '\\tools'],
    ])
    assert.deepEqual(searched('agent', '/bin:/usr/bin'), [
      ['/bin:/usr/bin'],
      ['/bin', '/usr/bin'],
      ['/bin', '/usr/bin'],
    ])
    assert.deepEqual(searched('tools\\agent.cmd', '/bin'), [[], ['/bin'], ['/bin']], 'elsewhere it is a name')
    assert.deepEqual(searched('./agent', '/bin'), [[], [], []])
  })

  it('a name that is no text leads back to its bytes, which only Windows has not', () => {
    const name = decodeFileName(Buffer.from([0x61, 0xff]))
    const bytes = Buffer.from([0x61, 0xff])
    assert.deepEqual(
      onEach(platform => onDisk(name, platform)),
      [name, bytes, bytes],
    )
    assert.deepEqual(
      onEach(platform => onDisk('a', platform)),
      ['a', 'a', 'a'],
    )
  })

  it('a port passes from one program to the next with its connections', () => {
    assert.deepEqual(onEach(canTakeOverPorts), [false, true, true])
  })

  it('processes have groups, folders can be opened, and a dialog selects files or folders', () => {
    assert.deepEqual(onEach(hasProcessGroups), [false, true, true])
    assert.deepEqual(onEach(opensFolders), [false, true, true])
    assert.deepEqual(onEach(selectsFilesAndFolders), [false, true, false])
  })

  describe('processes', () => {
    /** What the programs of Windows and macOS print; on Linux, none is started. */
    const tool: RunTool = async (program, args, env) => {
      const line = args.join(' ')
      if (/^C:\\Windows.System32.WindowsPowerShell.v1\.0.powershell\.exe$/.test(program)) {
        assert.match(line, /^-NoLogo -NoProfile -NonInteractive -Command Get-/)
        return line.includes('Get-Process') ? '812 2048\r\n900 1024.5\r\n' : '812 4 17\r\n900 812 18\r\n'
      }
      assert.equal(program, 'ps')
      if (line === '-o command= -p 812') return 'node agent-host.mjs\n'
      if (line === '-A -E -ww -o pid=,command=') return '  812 node TAG=1 HOME=/\n  900 sh TAG=2\n'
      if (line === '-o pid=,rss= -p 812,900') return '  812   2048\n  900   1024\n'
      assert.equal(line, '-A -o pid=,ppid=,pgid=,stat=,lstart=')
      assert.equal(env?.LC_ALL, 'C', 'whose dates can be read')
      const at = 'Fri Nov 20 10:33:00 2026'
      return `  812  1  812 Ss ${at}\n  900  812  812 S ${at}\n`
    }
    const others = ['win32', 'darwin'] as const
    const systemRoot = process.env.SystemRoot
    before(() => {
      delete process.env.SystemRoot
    })
    after(() => {
      if (systemRoot !== undefined) process.env.SystemRoot = systemRoot
    })

    it('are listed by the system itself', async () => {
      for (const platform of others)
        assert.deepEqual(
          (await listProcesses(platform, tool))?.map(({ pid, ppid }) => [pid, ppid]),
          [
            [812, platform === 'win32' ? 4 : 1],
            [900, 812],
          ],
        )
      const failing = () => Promise.reject(new Error('none'))
      assert.deepEqual(await Promise.all(others.map(one => listProcesses(one, failing))), [
        undefined,
        undefined,
      ])
    })

    it('have a memory with that of their descendants', async () => {
      const kilobytes = async (platform: NodeJS.Platform) =>
        [...(await memoryOfTrees([812], platform, tool))].map(([pid, bytes]) => [pid, bytes / 1024])
      assert.deepEqual(await Promise.all(others.map(kilobytes)), [[[812, 3072.5]], [[812, 3072]]])
    })

    it('have a command line and an environment, except on Windows', async () => {
      const lines = await Promise.all(others.map(platform => commandLineOf(812, platform, tool)))
      assert.deepEqual(lines, [undefined, 'node agent-host.mjs\n'])
      const found = await Promise.all(others.map(platform => processesWith('TAG=1', platform, tool)))
      assert.deepEqual(found, [new Set(), new Set([812])])
    })

    it('write in the code page of Windows, or the encoding of the locale', async () => {
      const chcp: RunTool = async program => {
        assert.match(program, /^C:\\Windows.System32.chcp\.com$/)
        return 'Active code page: 936\r\n'
      }
      const env = { LANG: 'ja_JP.eucJP', LC_CTYPE: 'de_DE.ISO-8859-1' }
      assert.deepEqual(await Promise.all(onEach(platform => askSystemEncoding(platform, env, chcp))), [
        'gbk',
        'iso-8859-1',
        'iso-8859-1',
      ])
      const failing = () => Promise.reject(new Error('none'))
      assert.equal(await askSystemEncoding('win32', env, failing), undefined)
    })
  })

  it('the demo agent runs commands in the shell of the system', () => {
    assert.deepEqual(onEach(listingLine), ['dir', 'ls -la', 'ls -la'])
    const shell = { command: '/bin/sh', args: ['-c', 'a "b"'] }
    assert.deepEqual(
      onEach(platform => shellLine('a "b"', platform)),
      [{ command: 'cmd.exe', args: ['/d', '/s', '/c', 'a "b"'] }, shell, shell],
    )
  })

  it('a path is within a folder or not', () => {
    const windows = (folder: string, file: string) => isWithin(folder, file, path.win32)
    assert.equal(windows('C:\\a', 'C:\\a\\b'), true)
    assert.equal(windows('C:\\a', 'c:\\A\\b'), true)
    assert.equal(windows('C:\\a', 'C:\\a'), true)
    assert.equal(windows('C:\\a', 'C:\\a\\..b'), true)
    assert.equal(windows('C:\\a', 'C:\\ab'), false)
    assert.equal(windows('C:\\a', 'D:\\a\\b'), false, 'another drive')
    assert.equal(windows('C:\\a', '\\\\server\\share\\b'), false)
    assert.equal(windows('C:/a', 'C:\\a\\b'), true, 'a path from Git')
    const others = (folder: string, file: string) => isWithin(folder, file, path.posix)
    assert.equal(others('/a', '/a/..b'), true)
    assert.equal(others('/a', '/a/..\\b'), true, 'a name')
    assert.equal(others('/a', '/b'), false)
    assert.equal(others('/a', '/A/b'), false)
  })

  it('a socket has a path that fits, or is a pipe', () => {
    const [pipe = '', mac = '', linux = ''] = onEach(platform =>
      newSocketPath(platform, [
        undefined,
        path.join(directory, 'x'.repeat(90)),
        path.join(directory, 'no'),
        directory,
      ]),
    )
    assert.match(pipe, /^\\\\\.\\pipe\\parley-[0-9a-f]{32}$/)
    for (const socket of [mac, linux]) {
      assert.ok(socket.startsWith(path.join(directory, 'parley-host-')), socket)
      assert.ok(Buffer.byteLength(socket) < 104, socket)
    }
    assert.notEqual(mac, linux)
    for (const socket of [pipe, mac, linux]) removeSocket(socket)
    for (const socket of [mac, linux]) assert.ok(!existsSync(path.dirname(socket)), socket)
    // 103 bytes are the most on a Mac, where the temporary folder is deep
    const longest = path.join(
      directory,
      'y'.repeat(103 - Buffer.byteLength(directory) - 1 - '/parley-host-123456/s'.length),
    )
    assert.throws(() => newSocketPath('darwin', [`${longest}y`]), /no folder/)
    mkdirSync(longest)
    assert.equal(Buffer.byteLength(newSocketPath('darwin', [longest])), 103)
  })

  it("a checkout ends lines as the user's Git does", async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: directory })
    git('init', '-q')
    const ends = (platform: NodeJS.Platform) =>
      new Checkout(directory, ['a.txt', 'b.txt']).endsWithCrlf('a.txt', platform)
    git('config', 'core.autocrlf', 'false')
    assert.deepEqual(await Promise.all(onEach(ends)), [false, false, false])
    git('config', 'core.autocrlf', 'true')
    assert.deepEqual(await Promise.all(onEach(ends)), [true, true, true])
    git('config', 'core.autocrlf', 'false')
    writeFileSync(path.join(directory, '.gitattributes'), '*.txt text\n')
    assert.deepEqual(await Promise.all(onEach(ends)), [true, false, false], 'as is native')
  })

  it('a command has the effect that its options have there', () => {
    // on a Mac, `-i` takes the next word, so the word after that is the script
    assert.deepEqual(
      onEach(platform => unclearWord(['sed', '-i', 's/a/b/', 'x'], platform)),
      [undefined, 1, undefined],
    )
  })
})
