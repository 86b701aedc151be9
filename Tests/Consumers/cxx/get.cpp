// A C++ service's first program: three GETs at once, their bodies printed.
#include <CErrand.h>

#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Payload = std::unique_ptr<errand_payload, decltype(&errand_payload_free)>;

struct Answer {
  errand_status status;
  int httpStatus;
  std::string body;
};

class Answers {
public:
  static void onRecords(void *context, errand_record *records, size_t count) {
    static_cast<Answers *>(context)->take(records, count);
  }

  std::vector<Answer> wait(size_t count) {
    std::unique_lock<std::mutex> lock(mutex);
    ended.wait(lock, [&] { return answers.size() == count; });
    return answers;
  }

private:
  void take(errand_record *records, size_t count) {
    std::lock_guard<std::mutex> lock(mutex);
    for (size_t i = 0; i < count; i++) {
      Payload payload(records[i].payload, errand_payload_free);
      if (records[i].kind != ERRAND_RECORD_COMPLETION)
        continue;
      Answer answer{errand_status(records[i].status), records[i].http_status,
                    std::string()};
      if (payload) {
        errand_bytes body = errand_payload_body(payload.get());
        if (body.length != 0)
          answer.body.assign(reinterpret_cast<const char *>(body.data),
                             body.length);
      }
      answers.push_back(answer);
    }
    ended.notify_one();
  }

  std::mutex mutex;
  std::condition_variable ended;
  std::vector<Answer> answers;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: get URL\n";
    return 2;
  }
  std::string url = argv[1];
  Answers answers;
  errand_group_init init{};
  init.on_records = Answers::onRecords;
  init.context = &answers;
  errand_group *group = nullptr;
  errand_status status = errand_group_create(&init, &group);
  if (status != ERRAND_OK) {
    std::cerr << "group: " << errand_status_text(status) << "\n";
    return 1;
  }

  std::vector<errand_request> requests(3);
  for (errand_request &request : requests) {
    request.url = {reinterpret_cast<const uint8_t *>(url.data()), url.size()};
    request.timeout_total = 10000;
  }
  size_t accepted = errand_submit(group, requests.data(), requests.size());
  int exitCode = accepted == requests.size() ? 0 : 1;
  for (const Answer &answer : answers.wait(accepted)) {
    if (answer.status != ERRAND_OK) {
      std::cerr << url << ": " << errand_status_text(answer.status) << "\n";
      exitCode = 1;
    } else {
      std::cout << answer.httpStatus << " " << answer.body << "\n";
    }
  }
  errand_group_destroy(group);
  return exitCode;
}
