# `make demo` and `make test` set up what they need; the rest builds on them.
BUILD := build
NINJA := ninja -C $(BUILD)

.PHONY: build
build: $(BUILD)/build.ninja
	@$(NINJA) kw

$(BUILD)/build.ninja:
	@cmake -S . -B $(BUILD) -G Ninja
