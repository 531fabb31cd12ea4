#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "base/file.h"

namespace kw {
namespace {

using std::chrono::milliseconds;

Command shell(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  return command;
}

TEST(Run, GivesOutputErrorsAndExitCode) {
  const Finished finished = *run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(finished.output, "out\n");
  EXPECT_EQ(finished.errors, "err\n");
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_FALSE(finished.ok());
  EXPECT_EQ(describe_end(finished), "exited with code 3");
}

TEST(Run, FeedsInputLargerThanAnyBufferWhileReadingOutput) {
  Command command = shell("cat");
  command.input.assign(std::size_t{8} << 20, 'x');
  const Finished finished = *run(command);
  EXPECT_TRUE(finished.ok());
  EXPECT_EQ(finished.output, command.input);
}

TEST(Run, SurvivesAProgramThatDoesNotReadItsInput) {
  Command command = shell("exit 0");
  command.input.assign(std::size_t{8} << 20, 'x');
  EXPECT_TRUE(run(command)->ok());
}

TEST(Run, GivesAnEmptyInputWhenThereIsNone) { EXPECT_EQ(run(shell("cat; echo end"))->output, "end\n"); }

TEST(Run, EndsAProgramAndItsChildrenWhenTimeIsUp) {
  Command command = shell("echo begun; sleep 60 & sleep 60");
  command.timeout = milliseconds(200);
  const Finished finished = *run(command);
  EXPECT_TRUE(finished.timed_out);
  EXPECT_FALSE(finished.ok());
  EXPECT_EQ(finished.output, "begun\n");
  EXPECT_LT(finished.seconds, 10);
  EXPECT_EQ(describe_end(finished), "ran out of time");
}

TEST(Run, EndsWithTheProgramEvenIfSomethingItLeftBehindHoldsTheOutput) {
  const Finished finished = *run(shell("sleep 60 & echo done"));
  EXPECT_EQ(finished.output, "done\n");
  EXPECT_TRUE(finished.ok());
  EXPECT_LT(finished.seconds, 10);
}

TEST(Run, NamesTheSignalThatEndedAProgram) {
  const Finished finished = *run(shell("kill -SEGV $$"));
  EXPECT_EQ(finished.signal, SIGSEGV);
  EXPECT_EQ(finished.exit_code, 128 + SIGSEGV);
  EXPECT_EQ(describe_end(finished), "was killed by signal 11 (Segmentation fault)");
}

TEST(Run, AMissingProgramIsAMissingTool) {
  Command command;
  command.argv = {"no-such-program-anywhere"};
  const auto result = run(command);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::MissingTool);
  EXPECT_FALSE(result.error().hint.empty());
}

TEST(Run, AMissingFolderIsBadInput) {
  Command command = shell("pwd");
  command.directory = "/no/such/folder";
  EXPECT_EQ(run(command).error().kind, ErrorKind::BadInput);
}

TEST(Run, SetsFolderAndEnvironment) {
  const TemporaryDirectory folder = *TemporaryDirectory::make();
  Command command = shell("pwd; echo \"$KW_A $HOME\"");
  command.directory = folder.path();
  command.environment = {{"KW_A", "a b"}, {"HOME", "/elsewhere"}};
  EXPECT_EQ(run(command)->output, folder.path() + "\na b /elsewhere\n");
}

TEST(Run, KeepsOutputUpToTheLimitAndLetsTheProgramFinish) {
  Command command = shell("head -c 1000000 /dev/zero; echo end >&2");
  command.output_limit = 1000;
  const Finished finished = *run(command);
  EXPECT_EQ(finished.output.size(), 1000u);
  EXPECT_EQ(finished.errors, "end\n");
  EXPECT_TRUE(finished.truncated);
  EXPECT_TRUE(finished.ok());
}

TEST(Run, LimitsMemory) {
  Command command = shell("sleep 0.1; head -c 400m /dev/zero | tail -c 400m | wc -c");
  command.memory_limit = std::size_t{64} << 20;
  EXPECT_NE(run(command)->output, "419430400\n");
}

TEST(Run, WorksFromSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] { EXPECT_EQ(run(shell("echo " + std::to_string(i)))->output, std::to_string(i) + "\n"); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FindProgram, FindsWhatIsInPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_FALSE(find_program("no-such-program-anywhere"));
  EXPECT_FALSE(find_program("/no/such/program"));
}

TEST(ChildTest, AnswersLineByLine) {
  Child child = *Child::start(shell("while read line; do echo \"<$line>\"; done"));
  for (const char* line : {"one", "", "three"}) {
    ASSERT_TRUE(child.write_line(line));
    EXPECT_EQ(child.read_line(milliseconds(5000)).value(), std::string("<") + line + ">");
  }
  EXPECT_TRUE(child.alive());
  child.kill();
  EXPECT_FALSE(child.alive());
}

TEST(ChildTest, GivesLinesThatCameTogetherOneByOneEvenAfterItsEnd) {
  Child child = *Child::start(shell("printf 'a\\nb\\nrest'"));
  EXPECT_EQ(child.read_line(milliseconds(5000)).value(), "a");
  EXPECT_EQ(child.read_line(milliseconds(5000)).value(), "b");
  EXPECT_FALSE(child.read_line(milliseconds(5000)));
}

TEST(ChildTest, CarriesALineLargerThanAnyBuffer) {
  Child child = *Child::start(shell("cat"));
  const std::string line(100'000, 'x');
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(child.write_line(line));
    ASSERT_EQ(child.read_line(milliseconds(5000)).value(), line);
  }
}

TEST(ChildTest, ADeathIsReportedWithItsCauseAndLastWords) {
  Child child = *Child::start(shell("read line; echo 'no memory left' >&2; kill -ABRT $$"));
  ASSERT_TRUE(child.write_line("go"));
  const auto answer = child.read_line(milliseconds(5000));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::GateFailed);
  EXPECT_NE(answer.error().message.find("signal 6"), std::string::npos) << answer.error().message;
  EXPECT_NE(answer.error().message.find("no memory left"), std::string::npos) << answer.error().message;
  EXPECT_FALSE(child.write_line("again"));
  EXPECT_FALSE(child.read_line(milliseconds(10)));
}

TEST(ChildTest, AHangEndsWithTheTimeLimitAndTheWorker) {
  Child child = *Child::start(shell("sleep 60"));
  const auto answer = child.read_line(milliseconds(100));
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("did not answer in time"), std::string::npos);
  EXPECT_FALSE(child.alive());
}

TEST(ChildTest, AMissingProgramIsAMissingTool) {
  Command command;
  command.argv = {"no-such-program-anywhere"};
  EXPECT_EQ(Child::start(command).error().kind, ErrorKind::MissingTool);
}

}  // namespace
}  // namespace kw
