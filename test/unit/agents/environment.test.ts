import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  joinPaths,
  withChanges,
  withNetworkSettings,
  withoutEditorVariables,
} from '../../../src/agents/environment.ts'
import { mergeEnvironment, pathVariable } from '../../../src/common/processes/spawn-process.ts'

const without = (env: Record<string, string | undefined>) => withoutEditorVariables(env, 'linux')

describe('the environment of package managers', () => {
  it("contains VS Code's network settings unless it already defines them", () => {
    const settings = { proxy: 'http://proxy:8080', noProxy: ['localhost', '.example.com'], strictSSL: false }
    assert.deepEqual(withNetworkSettings({ A: '1' }, settings), {
      ...{ A: '1', HTTP_PROXY: 'http://proxy:8080', HTTPS_PROXY: 'http://proxy:8080' },
      ...{ NO_PROXY: 'localhost,.example.com', npm_config_strict_ssl: 'false' },
    })
    const own = { https_proxy: 'http://mine', no_proxy: 'here', npm_config_strict_ssl: 'true' }
    assert.deepEqual(withNetworkSettings(own, settings), own)
    assert.deepEqual(withNetworkSettings({ A: '1' }, { proxy: '', noProxy: [], strictSSL: true }), { A: '1' })
    const trusting = { systemCertificates: true }
    const node = { NODE_USE_SYSTEM_CA: '1' }
    assert.deepEqual(withNetworkSettings({}, trusting), { ...node, UV_NATIVE_TLS: 'true' })
    const native = { NODE_USE_SYSTEM_CA: '0', UV_NATIVE_TLS: '' }
    assert.deepEqual(withNetworkSettings(native, trusting), native)
  })
})

describe("the environment without the editor's variables", () => {
  it('removes variables that VS Code, code-server and Electron set for themselves', () => {
    const env = {
      VSCODE_PID: '1',
      VSCODE_IPC_HOOK: '/run/x.sock',
      VSCODE_IPC_HOOK_CLI: '/run/y.sock',
      VSCODE_NLS_CONFIG: '{}',
      VSCODE_ESM_ENTRYPOINT: 'vs/workbench/api/node/extensionHostProcess',
      VSCODE_HANDLES_UNCAUGHT_ERRORS: 'true',
      VSCODE_GIT_ASKPASS_MAIN: '/x',
      CODE_SERVER_SESSION_SOCKET: '/x',
      CODE_SERVER_PARENT_PID: '1',
      ELECTRON_RUN_AS_NODE: '1',
      ELECTRON_NO_ATTACH_CONSOLE: '1',
      ELECTRON_NO_ASAR: '1',
      APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL: '1',
      CHROME_DESKTOP: 'code.desktop',
      ORIGINAL_XDG_CURRENT_DESKTOP: 'GNOME',
      NODE_CHANNEL_FD: '3',
      PWD: '/somewhere',
      _: '/usr/bin/code',
      NOT_SET: undefined,
    }
    assert.deepEqual(without(env), {})
  })

  it("keeps the user's variables", () => {
    const env = {
      PATH: '/bin',
      HOME: '/home/me',
      ANTHROPIC_API_KEY: 'k',
      NODE_OPTIONS: '--max-old-space-size=8192',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      NO_COLOR: '1',
      ELECTRON_MIRROR: 'mirror',
      ELECTRON_GET_USE_PROXY: '1',
      GIT_ASKPASS: '/usr/bin/ksshaskpass',
      BROWSER: 'firefox',
      TERM_PROGRAM: 'iTerm.app',
      TERM_PROGRAM_VERSION: '3',
      MY_VSCODE_THING: '1',
      GDK_PIXBUF_MODULE_FILE: '/nix/store/x',
    }
    assert.deepEqual(without(env), env)
  })

  it("removes the debugger's preload from NODE_OPTIONS and keeps the rest", () => {
    const bootloader = '/home/me/.vscode/extensions/ms-vscode.js-debug/src/bootloader.js'
    const cases: Array<[string, string | undefined]> = [
      [`--require ${bootloader}`, undefined],
      [`--require "${bootloader}" --max-old-space-size=1`, '--max-old-space-size=1'],
      [`--no-warnings -r /a\\ b/bootloader.js --import=./mine.mjs`, '--no-warnings --import=./mine.mjs'],
      ['--require ./mine.js', '--require ./mine.js'],
    ]
    for (const [options, kept] of cases) assert.equal(without({ NODE_OPTIONS: options }).NODE_OPTIONS, kept)
  })

  it('removes helpers that need a removed variable to reach this window', () => {
    const env = {
      GIT_ASKPASS: '/usr/share/code/resources/app/extensions/git/dist/askpass.sh',
      SSH_ASKPASS: '/usr/share/code/resources/app/extensions/git/dist/ssh-askpass.sh',
      BROWSER: '/root/.vscode-server/bin/abc/bin/helpers/browser.sh',
      TERM_PROGRAM: 'vscode',
      TERM_PROGRAM_VERSION: '1.103.2',
    }
    assert.deepEqual(without(env), {})
  })

  it("removes the server's own directories from the PATH", () => {
    const path = '/usr/lib/code-server/lib/vscode/bin/remote-cli:/usr/bin::/bin'
    assert.deepEqual(without({ PATH: path }), { PATH: '/usr/bin::/bin' })
  })

  it('restores variables that the snap changed', () => {
    const env = {
      SNAP: '/snap/code/1',
      SNAP_NAME: 'code',
      GDK_PIXBUF_MODULE_FILE: '/snap/x',
      GTK_PATH: '/snap/x',
      GTK_PATH_VSCODE_SNAP_ORIG: '',
      XDG_DATA_DIRS: '/snap/share',
      XDG_DATA_DIRS_VSCODE_SNAP_ORIG: '/usr/share',
    }
    assert.deepEqual(without(env), { XDG_DATA_DIRS: '/usr/share' })
  })

  it('ignores the case of names on Windows', () => {
    assert.deepEqual(withoutEditorVariables({ Vscode_Pid: '1', Path: 'x' }, 'win32'), { Path: 'x' })
  })

  it('stays the same if it is cleaned again', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('VSCODE_X', 'NODE_OPTIONS', 'TERM_PROGRAM', 'BROWSER', 'A_VSCODE_SNAP_ORIG', 'A'),
    )
    const value = fc.oneof(fc.string(), fc.constantFrom('vscode', '--require /x/bootloader.js --y'))
    fc.assert(
      fc.property(fc.dictionary(name, value, { noNullPrototype: true }), env => {
        const once = without(env)
        assert.deepEqual(without(once), once)
      }),
    )
  })
})

describe('merged environments', () => {
  it('ignore the case of variables only on Windows', () => {
    assert.deepEqual(mergeEnvironment({ Path: 'a', X: '1' }, { PATH: 'b' }, 'win32'), { X: '1', PATH: 'b' })
    assert.deepEqual(mergeEnvironment({ Path: 'a' }, { PATH: 'b' }, 'linux'), { Path: 'a', PATH: 'b' })
    assert.equal(pathVariable({ Path: 'a' }, 'win32'), 'a')
    assert.equal(pathVariable({ Path: 'a' }, 'linux'), '')
  })

  it('have no variable that a change removes', () => {
    const changed = (platform: NodeJS.Platform) =>
      withChanges({ Path: 'a', Home: 'b', X: '1' }, { HOME: null, PATH: 'c' }, platform)
    assert.deepEqual(changed('win32'), { X: '1', PATH: 'c' })
    assert.deepEqual(changed('linux'), { Path: 'a', Home: 'b', X: '1', PATH: 'c' })
    assert.deepEqual(withChanges({ Path: 'a' }, { PATH: 'c', path: null }, 'win32'), { PATH: 'c' })
  })

  it('join PATHs without empty or repeated directories', () => {
    assert.equal(joinPaths(['/a:/b::', '', '/b:/c'], 'linux'), '/a:/b:/c')
    assert.equal(joinPaths(['C:\\a;C:\\b', 'C:\\a'], 'win32'), 'C:\\a;C:\\b')
  })
})
