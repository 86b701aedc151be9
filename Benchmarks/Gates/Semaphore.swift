import Glibc

/// A semaphore of the C library: waiting costs no instructions and needs no queue library.
///
/// `@unchecked Sendable`: `sem_post` and `sem_wait` may be called from several threads at once.
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
