/** Milliseconds of the processor that the work takes: what others do on the machine meanwhile does not count. */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
