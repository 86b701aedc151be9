import Glibc

/// A semaphore of the C library: waiting costs no instructions, and no queue library of its own.
///
/// `@unchecked Sendable`: `sem_post` and `sem_wait` are made to be called from any threads at once.
final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() {
        sem_post(semaphore)
    }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}
