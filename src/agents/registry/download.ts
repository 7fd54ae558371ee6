import { createHash } from 'node:crypto'
import { open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as l10n from '@vscode/l10n'
import { CancelledError } from '../../common/errors.ts'
import { DOWNLOAD_IDLE_MS } from '../../common/limits.ts'
import { networkProblem, type RequestProblem, statusProblem } from '../../common/network-problem.ts'
import { RedirectError, secureFetch } from './secure-fetch.ts'

export interface DownloadOptions {
  /** VS Code's `fetch` of the extension host, which uses the proxy and certificate settings. */
  fetch: typeof fetch
  /** The expected checksum, in lowercase hexadecimal digits; a file with a different checksum is refused. */
  sha256?: string
  signal?: AbortSignal
  /** Called with numbers of bytes. `total` is absent if the server doesn't report it. */
  onProgress?: (received: number, total: number | undefined) => void
  maxBytes?: number
  /** The time limit without any new data, in milliseconds. */
  idleMs?: number
}

/** The download failed. The message is a sentence for the user; `detail` is for the log. */
export class DownloadError extends Error {
  readonly detail: string

  constructor(message: string, detail = '') {
    super(message)
    this.detail = detail
  }
}

/** The maximum size of a download: 2 GiB, more than any agent's archive has. */
const MAX_BYTES = 2 * 1024 ** 3

/**
 * Downloads to a file that doesn't exist yet. Resolves to the SHA-256 checksum of the content. Rejects with {@link DownloadError}, a file
 * system error or `CancelledError`. Then the caller must remove the file.
 */
export async function download(address: string, file: string, options: DownloadOptions): Promise<string> {
  const { signal, maxBytes = MAX_BYTES, idleMs = DOWNLOAD_IDLE_MS } = options
  const idle = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const alive = () => {
    clearTimeout(timer)
    timer = setTimeout(() => idle.abort(), idleMs)
  }
  const hash = createHash('sha256')
  let received = 0
  try {
    alive()
    const either = signal ? AbortSignal.any([signal, idle.signal]) : idle.signal
    const response = await secureFetch(options.fetch, address, { signal: either })
    if (!response.ok) {
      await response.body?.cancel()
      throw failed(statusProblem(response.status, address))
    }
    // The size of a compressed response isn't the size of its content.
    const isPlain = response.headers.get('content-encoding') === null
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    const total = isPlain && Number.isSafeInteger(length) ? length : undefined
    if (total !== undefined) {
      if (total > maxBytes) throw tooLarge(maxBytes)
      await checkSpace(file, total)
    }
    const handle = await open(file, 'wx')
    try {
      for await (const piece of response.body ?? []) {
        alive()
        received += piece.length
        if (received > maxBytes) throw tooLarge(maxBytes)
        hash.update(piece)
        // `write` isn't used, because it may write only a part of the data when the disk is nearly full.
        await handle.writeFile(piece)
        options.onProgress?.(received, total)
      }
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (total !== undefined && received !== total)
      throw new DownloadError(l10n.t('The download ended early: {0} of {1} bytes.', received, total))
  } catch (error) {
    if (signal?.aborted) throw new CancelledError()
    if (error instanceof DownloadError || isFileError(error)) throw error
    if (error instanceof RedirectError) throw new DownloadError(error.message)
    if (idle.signal.aborted)
      throw new DownloadError(
        l10n.t('The download stopped: no data was received for {0} seconds.', idleMs / 1000),
      )
    throw failed(networkProblem(error, address))
  } finally {
    clearTimeout(timer)
  }
  const sha256 = hash.digest('hex')
  if (options.sha256 !== undefined && options.sha256 !== sha256)
    throw new DownloadError(l10n.t("The SHA-256 checksum of the downloaded file doesn't match the registry."))
  return sha256
}

function failed({ reason, advice, detail }: RequestProblem): DownloadError {
  return new DownloadError(l10n.t('The download failed: {0}. {1}', reason, advice), detail)
}

function tooLarge(maxBytes: number): DownloadError {
  return new DownloadError(l10n.t('The download is larger than {0} MB.', Math.floor(maxBytes / 1024 ** 2)))
}

/** Checks that there is space for the archive and its unpacked content, assumed to be three times the archive's size. */
async function checkSpace(file: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file))
  const free = bavail * bsize
  if (free < bytes * 3)
    throw new DownloadError(
      l10n.t(
        "There isn't enough disk space: {0} MB required, {1} MB available.",
        Math.ceil((bytes * 3) / 1024 ** 2),
        Math.floor(free / 1024 ** 2),
      ),
    )
}

/** Whether an error comes from writing the file, not from the network. */
function isFileError(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException
  return syscall === 'open' || syscall === 'write' || syscall === 'fsync' || syscall === 'statfs'
}
